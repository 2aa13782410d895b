const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** How long after a try the next one comes, in ms, as Standard Webhooks proposes; the first comes at once. */
export const pauses: readonly number[] = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

/** How long an address may take for its answer, in ms. */
export const patienceMs = 15 * second
/** How long a try may be under way before it counts as interrupted, in ms: longer than any answer is waited for. */
const tryMs = patienceMs + 15 * second

/** What a try came to: the status of an answer, or null when none came. */
export type Answered = number | null

/** How far a delivery has come. */
export interface Tries {
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED'
  /** How many tries were begun. */
  readonly attempts: number
  /** When it is tried next, or, while a try is under way, when that counts as interrupted; null once it is over. */
  readonly nextAttemptAt: Date | null
}

/** What changes when a try begins; null when the delivery is over, or not due. */
export function beginTry({ status, nextAttemptAt, attempts }: Tries, now: Date): Pick<Tries, 'attempts' | 'nextAttemptAt'> | null {
  if (status !== 'PENDING' || !nextAttemptAt || nextAttemptAt > now) return null
  // A delivery that was interrupted in its last attempt gets that attempt again.
  return { attempts: Math.min(attempts + 1, pauses.length), nextAttemptAt: new Date(now.getTime() + tryMs) }
}

/** Whether a delivery is still in the try that was begun: nobody has taken it up since. */
export const isStillTried = (begun: Tries, held: Tries): boolean =>
  held.status === 'PENDING' && held.nextAttemptAt?.getTime() === begun.nextAttemptAt?.getTime()

/** What follows from a try. */
export interface Concluded {
  readonly delivery: Partial<Tries> & { readonly responseStatus: Answered }
  /** Why nothing more is told there; null when it goes on. */
  readonly disabledReason: string | null
}

/** What follows from a try. 410 means that the address is wanted no more; past the last try it is given up as well. */
export function conclude({ attempts }: Pick<Tries, 'attempts'>, status: Answered, now: Date): Concluded {
  const over = { responseStatus: status, nextAttemptAt: null }
  if (status !== null && status >= 200 && status < 300) return { delivery: { ...over, status: 'DELIVERED' }, disabledReason: null }
  if (status === 410) return { delivery: { ...over, status: 'FAILED' }, disabledReason: 'It answered 410: it is wanted no more.' }
  const pause = pauses[attempts]
  if (pause !== undefined) return { delivery: { responseStatus: status, nextAttemptAt: new Date(now.getTime() + pause) }, disabledReason: null }
  const last = status === null ? 'the last time without any answer' : `the last time with ${status}`
  return { delivery: { ...over, status: 'FAILED' }, disabledReason: `${attempts} tries over three days failed, ${last}.` }
}
