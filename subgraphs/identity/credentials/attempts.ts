import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Clock } from '../../../platform/clock.ts'
import { Refusal } from '../../../platform/errors.ts'
import { createLimit } from '../../../platform/limit.ts'
import { createLru } from '../../../platform/lru.ts'

/** In which time failures are counted, in milliseconds. */
const windowMs = 15 * 60_000

/** How many failures an account, and an address, may have within it. */
const mostFailures = { account: 10, address: 100 }

/**
 * How many failures an account may have from one address before a delay is put before each further attempt from there. It doubles
 * from a second to `mostDelayMs`, and is forgotten after `windowMs` without a failure.
 */
const mostFailuresFromOneAddress = 30
const mostDelayMs = 60_000

/** How many sign-ins of one account may wait for their turn. */
const mostTurns = 50

/** How many addresses are remembered for a person; the least recent go. */
const mostAddresses = 20

/**
 * How many passwords are checked at the same time. Each takes a thread of the four that also look up names and read files: more
 * would hold up the whole process.
 */
const mostAtOnce = 2

/** How many may wait for that; more are sent away for a moment. */
const mostWaiting = 200

/** Who tries to sign in, and from where. */
export interface Attempt {
  readonly email: string
  readonly address: string
}

/** What became of the password: right with the person's id, wrong, or never looked at. */
export type Outcome = { readonly userId: string } | 'wrong' | 'not tried'

/**
 * Guards sign-in against guessing. Attempts on one account are tried one after another, so that many at once learn no more than
 * the same number in turn. A full count refuses before the password is looked at, except from an address that signed in
 * to the account before: there the password is looked at, and only a wrong one is refused. So that nobody can guess on from
 * such an address, too many failures from one address put a growing delay before every attempt from there, right ones included.
 * @returns the answer of `tryPassword`, or how many milliseconds to wait
 */
export function createAttempts(pool: pg.Pool, clock: Clock) {
  const byAccount = createLimit({ most: mostFailures.account, windowMs })
  const byAddress = createLimit({ most: mostFailures.address, windowMs })
  const delays = createDelays()
  const turns = new Map<string, { last: Promise<unknown>; open: number }>()
  const desks = createDesks(mostAtOnce, mostWaiting)

  async function attempt<Answer>({ email, address }: Attempt, tryPassword: () => Promise<{ answer: Answer; outcome: Outcome }>) {
    const account = accountOf(email)
    const began = clock.now()
    const place = `${account} ${address}`
    const delay = delays.wait(place, began)
    if (delay > 0) return { wait: delay }
    const wait = Math.max(byAccount.wait(account, began), byAddress.wait(address, began))
    if (wait > 0 && !(await isKnown(pool, email, address))) return { wait }
    // Counted before the outcome is known: requests at the same time cannot all slip under the limit.
    byAddress.add(address, began)
    const { answer, outcome } = await desks.use(tryPassword).catch(error => {
      byAddress.giveBack(address)
      throw error
    })
    if (outcome === 'wrong') {
      byAccount.add(account, clock.now())
      delays.add(place, clock.now())
      return wait > 0 ? { wait } : { answer }
    }
    byAddress.giveBack(address)
    if (outcome === 'not tried') return { answer }
    byAccount.clear(account)
    delays.clear(place)
    await remember(pool, outcome.userId, address, clock.now())
    return { answer }
  }

  return {
    /** @throws RATE_LIMITED when too many sign-ins wait, of this account or of all */
    async run<Answer>(who: Attempt, tryPassword: () => Promise<{ answer: Answer; outcome: Outcome }>): Promise<{ answer: Answer } | { wait: number }> {
      const account = accountOf(who.email)
      const queue = turns.get(account) ?? { last: Promise.resolve(), open: 0 }
      // The one whose turn it is does not wait.
      if (queue.open > mostTurns)
        throw new Refusal('RATE_LIMITED', 'Too many sign-ins of this account are under way: try again in a few seconds.', { retryAfter: 5 })
      turns.set(account, queue)
      queue.open += 1
      const turn = queue.last.then(() => attempt(who, tryPassword))
      queue.last = turn.catch(() => {})
      try {
        return await turn
      } finally {
        queue.open -= 1
        if (queue.open === 0) turns.delete(account)
      }
    },
  }
}

/** Counts failures by place, and says how long the next attempt from there has to wait; at most 20000 places are remembered. */
function createDelays() {
  const places = createLru<string, { readonly failures: number; readonly lastAt: number }>(20_000)
  return {
    /** Milliseconds; 0 when an attempt may be made now. */
    wait(place: string, now: Date): number {
      const { failures, lastAt } = places.get(place) ?? { failures: 0, lastAt: 0 }
      if (failures < mostFailuresFromOneAddress) return 0
      const delay = Math.min(mostDelayMs, 1000 * 2 ** (failures - mostFailuresFromOneAddress))
      return Math.max(0, lastAt + delay - now.getTime())
    },
    add(place: string, now: Date): void {
      const known = places.get(place)
      const counts = known !== undefined && now.getTime() - known.lastAt < windowMs
      places.set(place, { failures: counts ? known.failures + 1 : 1, lastAt: now.getTime() })
    },
    clear: places.delete,
  }
}

/** Lets so many work at once and so many wait, first come, first served. */
function createDesks(count: number, mostWaiting: number) {
  const waiting: (() => void)[] = []
  let free = count
  return {
    /** @throws RATE_LIMITED when too many wait already */
    async use<Result>(work: () => Promise<Result>): Promise<Result> {
      if (free > 0) free -= 1
      else if (waiting.length < mostWaiting) await new Promise<void>(resolve => waiting.push(resolve))
      else throw new Refusal('RATE_LIMITED', 'Too many people are signing in at this moment: try again in a few seconds.', { retryAfter: 5 })
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else free += 1
      }
    },
  }
}

const accountOf = (email: string): string => createHash('sha256').update(email.toLowerCase()).digest('base64url')

const addressHash = "encode(sha256(convert_to(u.id || ' ' || $2, 'UTF8')), 'hex')"

async function isKnown(pool: pg.Pool, email: string, address: string): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'address known',
    text: `select 1 from identity.users u join identity.sign_in_addresses a on a.user_id = u.id and a.address_hash = ${addressHash} where u.email = $1`,
    values: [email.toLowerCase(), address],
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
