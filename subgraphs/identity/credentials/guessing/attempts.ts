import { createHash } from 'node:crypto'
import type pg from 'pg'
import { neighbourhoodOf } from '../../../../platform/caller/address.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { Refusal } from '../../../../platform/errors.ts'
import { createCounter, createLimit } from '../../../../platform/limit.ts'
import { toStored } from '../../stores/mail-address.ts'
import { createPlaces } from './places.ts'
import { createQueues, createSemaphore, type Lane } from './queue.ts'

/** In which time failures are counted, in milliseconds. */
const windowMs = 15 * 60_000

/**
 * How many failures an account, and an address, may have within it; and how many an account whose count is full may have of addresses
 * that waited (`createPlaces`): together no more than 100, the most that NIST SP 800-63B §3.2.2 allows in a row.
 */
const mostFailures = { account: 10, address: 100, patient: 90 }

/** How many sign-ins from one address may be under way, of these by strangers, and how many of one account by strangers: one whose turn it is, and ten. */
const mostUnderWay = { address: 30, strangersOfAddress: 20, strangersOfAccount: 11 }

/** How many addresses are remembered for a person; the least recent go. */
const mostAddresses = 20

/**
 * How many passwords are checked at the same time. Each takes a thread of the four that also look up names and read files: more
 * would hold up the whole process.
 */
const mostAtOnce = 2

/** How many may wait for that; more are sent away for a moment. */
const mostWaiting: Readonly<Record<Lane, number>> = { known: 60, strangers: 30 }

/** Who tries to sign in, and from where. */
export interface Attempt {
  readonly email: string
  readonly address: string
}

/** What became of the password: right with the person's id, wrong, or never looked at. */
export type Outcome = { readonly userId: string } | 'wrong' | 'not tried'

/** What is known of an attempt before its turn. */
interface Caller extends Attempt {
  readonly account: string
  /** The account at this address. */
  readonly place: string
  readonly lane: Lane
}

/**
 * Guards sign-in against guessing (decision 0020). An address is a neighbourhood: an IPv4 address, or a /64 of IPv6. Strangers to an account
 * are tried one after another, so that many at once learn no more than the same number in turn; who comes from an address that
 * signed in before has a lane of their own, and waits for no stranger. A full count refuses before the password is looked at, but
 * from such an address, where only a wrong password is refused, and from an address that has waited. Too many failures from one
 * place put a growing delay before every attempt from there, right ones included.
 * @param noteRefused is told of each password that was wrong
 * @returns the answer of `tryPassword`, or how many milliseconds to wait
 */
export function createAttempts(pool: pg.Pool, clock: Clock, noteRefused: (email: string) => void = () => {}) {
  const byAccount = createLimit({ most: mostFailures.account, windowMs })
  const byAddress = createLimit({ most: mostFailures.address, windowMs })
  const byPatience = createLimit({ most: mostFailures.patient, windowMs })
  const places = createPlaces(windowMs)
  const underWay = { address: createCounter(), strangersOfAddress: createCounter(), strangersOfAccount: createCounter() }
  const inTurn = createQueues()
  const checks = createSemaphore(mostAtOnce, mostWaiting)

  /** Milliseconds that a full count makes a stranger wait; 0 when the password may be looked at. */
  function waitOfStranger({ account, address, place }: Caller, now: Date): number {
    const ofAccount = byAccount.wait(account, now)
    // An address that guesses at many accounts is given no second way in.
    const ofAddress = byAddress.wait(address, now)
    if (ofAccount === 0 || ofAddress > 0) return Math.max(ofAccount, ofAddress)
    return Math.min(ofAccount, Math.max(places.patience(place, now), byPatience.wait(account, now)))
  }

  async function attempt<Answer>(caller: Caller, tryPassword: () => Promise<{ answer: Answer; outcome: Outcome }>) {
    const { account, address, place, lane } = caller
    const began = clock.now()
    const delay = places.delay(place, began)
    if (delay > 0) return { wait: delay }
    const full = Math.max(byAccount.wait(account, began), byAddress.wait(address, began))
    if (full > 0 && lane === 'strangers') {
      const wait = waitOfStranger(caller, began)
      if (wait > 0) return { wait }
      byPatience.add(account, began)
    }
    // Counted before the outcome is known: requests at the same time cannot all slip under the limit.
    byAddress.add(address, began)
    const tried = await checks.use(lane, tryPassword).catch(error => {
      byAddress.giveBack(address)
      throw error
    })
    if (tried?.outcome === 'wrong') {
      const now = clock.now()
      byAccount.add(account, now)
      noteRefused(caller.email)
      places.fail(place, now)
      if (full === 0) return { answer: tried.answer }
      return { wait: lane === 'known' ? full : Math.max(1, waitOfStranger(caller, now)) }
    }
    byAddress.giveBack(address)
    if (!tried) throw busy('Too many people are signing in at this moment')
    if (tried.outcome === 'not tried') return { answer: tried.answer }
    byAccount.clear(account)
    byPatience.clear(account)
    places.clear(place)
    await remember(pool, tried.outcome.userId, address, clock.now())
    return { answer: tried.answer }
  }

  /** Runs work among at most so many of its key. @throws RATE_LIMITED when there are as many */
  async function within<Result>(what: keyof typeof underWay, key: string, sentence: string, work: () => Promise<Result>): Promise<Result> {
    const { enter, leave } = underWay[what]
    try {
      if (enter(key) > mostUnderWay[what]) throw busy(sentence)
      return await work()
    } finally {
      leave(key)
    }
  }

  return {
    /** @throws RATE_LIMITED when too many sign-ins are under way: of this account, from this address, or of all */
    run<Answer>(who: Attempt, tryPassword: () => Promise<{ answer: Answer; outcome: Outcome }>): Promise<{ answer: Answer } | { wait: number }> {
      const account = accountOf(who.email)
      const address = neighbourhoodOf(who.address)
      const place = `${account} ${address}`
      const fromHere = 'Too many sign-ins from this address are under way'
      return within('address', address, fromHere, async () => {
        const lane = (await isKnown(pool, who.email, address)) ? 'known' : 'strangers'
        const caller = { ...who, account, address, place, lane } as const
        if (lane === 'known') return inTurn(place, () => attempt(caller, tryPassword))
        return within('strangersOfAddress', address, fromHere, () =>
          within('strangersOfAccount', account, 'Too many sign-ins of this account are under way', () => inTurn(account, () => attempt(caller, tryPassword))),
        )
      })
    },
  }
}

/** What is said to whom has to wait, in ms. */
export function tooManyAttempts(wait: number): Refusal {
  const retryAfter = Math.ceil(wait / 1000)
  const [count, unit] = retryAfter < 60 ? [retryAfter, 'second'] : [Math.ceil(retryAfter / 60), 'minute']
  return new Refusal('RATE_LIMITED', `Too many attempts failed: try again in ${count} ${unit}${count === 1 ? '' : 's'}.`, { retryAfter })
}

const busy = (what: string) => new Refusal('RATE_LIMITED', `${what}: try again in a few seconds.`, { retryAfter: 5 })

const accountOf = (email: string): string => createHash('sha256').update(toStored(email)).digest('base64url')

const addressHash = "encode(sha256(convert_to(u.id::text || ' ' || $2, 'UTF8')), 'hex')"

async function isKnown(pool: pg.Pool, email: string, address: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'address known',
    text: `select 1 from identity.users u join identity.sign_in_addresses a on a.user_id = u.id and a.address_hash = ${addressHash} where u.email = $1`,
    values: [toStored(email), address],
  })
  return (rowCount ?? 0) > 0
}

async function remember(pool: pg.Pool, userId: string, address: string, now: Date): Promise<void> {
  await pool.query({
    name: 'remember address',
    text: `with remembered as (
             insert into identity.sign_in_addresses (user_id, address_hash, last_at)
             select u.id, ${addressHash}, $3 from identity.users u where u.id = $1
             on conflict (user_id, address_hash) do update set last_at = excluded.last_at)
           delete from identity.sign_in_addresses where (user_id, address_hash) in (
             select user_id, address_hash from identity.sign_in_addresses where user_id = $1 order by last_at desc offset $4)`,
    values: [userId, address, now, mostAddresses],
  })
}
