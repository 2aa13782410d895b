import { createHash } from 'node:crypto'
import type pg from 'pg'
import { neighbourhoodOf } from '../../../../platform/caller/address.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { createCounter } from '../../../../platform/limit.ts'
import { toStored } from '../../../../platform/smtp/mail-address.ts'
import type { Count, Limits } from '../../stores/credentials/limits.ts'
import { createQueues, createSemaphore, type Lane } from './queue.ts'
import { type Claim, type Counts, claim, type Result, settle } from './rules.ts'

/** Maximum concurrent sign-ins from one address, those of strangers among them, and of strangers to one account. */
const mostUnderWay = { address: 30, strangersOfAddress: 20, strangersOfAccount: 11 }

/** Maximum addresses remembered for a person; the least recent are dropped. */
const mostAddresses = 20

/**
 * Maximum concurrent password checks. Each takes one of the four threads that also resolve names and read files, and
 * more would block the process. Strangers have one of them, so that a person at a known address does not wait for
 * guesses.
 */
const mostAtOnce = { all: 2, strangers: 1 }

/** Maximum number of waiting checks; further ones are rejected. */
const mostWaiting: Readonly<Record<Lane, number>> = { known: 60, strangers: 30 }

/** The account and address of a sign-in. */
export interface Attempt {
  readonly email: string
  readonly address: string
}

/** Result of a password check: right with the person's id, wrong, or not tried. */
export type Outcome = { readonly userId: string } | 'wrong' | 'not tried'

/** What is known of a sign-in before its turn. */
interface Caller extends Attempt {
  readonly account: string
  /** The account at this address. */
  readonly place: string
  readonly lane: Lane
}

/**
 * Protects sign-in against guessing (decision 0020). An address is a neighbourhood: an IPv4 address, or a /64 of IPv6.
 * Strangers to an account are tried one after another, so that many at once learn no more than the same number in turn;
 * a caller from an address that signed in before has a separate queue, and waits for no stranger. A full count refuses
 * before the password is looked at, but from such an address, where only a wrong password is refused, and from an
 * address that has waited. Too many failures from one place put a growing delay before every attempt from there, right
 * ones included. The counts hold for all processes of identity together (decision 0097), and an attempt takes its share
 * of them before the password is looked at; what is under way is bounded in each process. While the database is
 * unavailable, all attempts are rejected.
 * @param noteRefused called for each wrong password
 * @returns the answer of `tryPassword`, or how many milliseconds to wait
 */
export function createAttempts(pool: pg.Pool, limits: Limits, clock: Clock, noteRefused: (email: string) => void = () => {}) {
  const underWay = { address: createCounter(), strangersOfAddress: createCounter(), strangersOfAccount: createCounter() }
  const inTurn = createQueues()
  const changing = createQueues()
  const checks = createSemaphore(mostAtOnce.all, mostWaiting, mostAtOnce.strangers)

  const keysOf = ({ account, address, place }: Caller): Readonly<Record<keyof Counts, string>> => ({
    account: limits.keyOf('account', account),
    address: limits.keyOf('address', address),
    patient: limits.keyOf('patient', account),
    place: limits.keyOf('place', place),
  })

  /**
   * Changes the counters of a sign-in, in one transaction. Those of one address run one after another, so that only one
   * of them holds a connection while it waits for a row.
   */
  const change = <Told extends { readonly counts: Counts }>(caller: Caller, decide: (counts: Counts, now: number) => Told): Promise<Told> =>
    changing(caller.address, () => {
      const [keys, now] = [keysOf(caller), clock.now()]
      return limits.change(Object.values(keys), now, found => {
        const result = decide(countsIn(keys, found), now.getTime())
        return { result, counts: new Map(names.map(name => [keys[name], result.counts[name]])) }
      })
    })

  /** Returns the milliseconds that an attempt has to wait in any case, without locking; 0 when it may be allowed. */
  async function glance(caller: Caller): Promise<number> {
    const [keys, now] = [keysOf(caller), clock.now()]
    const counts = countsIn(keys, await limits.read(Object.values(keys), now))
    const told = claim(counts, caller.lane, now.getTime())
    // The first refusal is stored, because the waiting time begins with it.
    return told.counts.place === counts.place ? told.wait : 0
  }

  const settled = (caller: Caller, taken: Claim, result: Result) => change(caller, (counts, now) => settle(counts, taken, result, now))

  async function attempt<Answer>(caller: Caller, tryPassword: () => Promise<{ answer: Answer; outcome: Outcome }>) {
    const { address, lane } = caller
    const inAnyCase = await glance(caller)
    if (inAnyCase > 0) return { wait: inAnyCase }
    const { wait, claim: taken } = await change(caller, (counts, now) => claim(counts, lane, now))
    if (!taken) return { wait }
    const tried = await checks.use(lane, tryPassword).catch(async error => {
      // Reports the first error; remaining counts expire with their window.
      await settled(caller, taken, 'not tried').catch(() => {})
      throw error
    })
    const result: Result = !tried || tried.outcome === 'not tried' ? 'not tried' : tried.outcome === 'wrong' ? 'wrong' : 'right'
    if (result === 'wrong') noteRefused(caller.email)
    const after = await settled(caller, taken, result)
    if (!tried) throw busy('Too many people are signing in at this moment')
    if (after.wait > 0) return { wait: after.wait }
    if (typeof tried.outcome === 'object') await remember(pool, tried.outcome.userId, address, clock.now())
    return { answer: tried.answer }
  }

  /** Runs work below a maximum for its key. @throws RATE_LIMITED at the maximum */
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
    /** @throws RATE_LIMITED when too many sign-ins are in progress: of this account, from this address, or in total */
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

const names = ['account', 'address', 'patient', 'place'] as const satisfies readonly (keyof Counts)[]

const countsIn = (keys: Readonly<Record<keyof Counts, string>>, found: ReadonlyMap<string, Count>): Counts =>
  Object.fromEntries(names.map(name => [name, found.get(keys[name]) ?? null])) as Record<keyof Counts, Count | null>

/** Error for a sign-in that has to wait, in ms. */
export function tooManyAttempts(wait: number): DomainError {
  const retryAfter = Math.ceil(wait / 1000)
  const [count, unit] = retryAfter < 60 ? [retryAfter, 'second'] : [Math.ceil(retryAfter / 60), 'minute']
  return new DomainError('RATE_LIMITED', `Too many attempts failed: try again in ${count} ${unit}${count === 1 ? '' : 's'}.`, { retryAfter })
}

const busy = (what: string) => new DomainError('RATE_LIMITED', `${what}: try again in a few seconds.`, { retryAfter: 5 })

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
