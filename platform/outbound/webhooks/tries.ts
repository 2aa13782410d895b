const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Pauses in ms between attempts, as Standard Webhooks proposes; the first comes at once. */
export const pauses: readonly number[] = [0, 5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]

/** Time limit in ms for an endpoint's answer. */
export const timeoutMs = 15 * second
/** Time in ms after which an attempt counts as interrupted: longer than the limit for an answer. */
const tryMs = timeoutMs + 15 * second

/** Result of an attempt: the status of the answer, or null without one. */
export type Answered = number | null

/** Progress of a delivery. */
export interface Tries {
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED'
  /** Number of attempts begun. */
  readonly attempts: number
  /**
   * Time of the next attempt, or, during an attempt, when it counts as interrupted; null once the delivery has ended.
   */
  readonly nextAttemptAt: Date | null
}

/** Returns the changes when an attempt begins; null when the delivery has ended, or is not due. */
export function beginTry({ status, nextAttemptAt, attempts }: Tries, now: Date): Pick<Tries, 'attempts' | 'nextAttemptAt'> | null {
  if (status !== 'PENDING' || !nextAttemptAt || nextAttemptAt > now) return null
  // A delivery that was interrupted in its last attempt gets that attempt again.
  return { attempts: Math.min(attempts + 1, pauses.length), nextAttemptAt: new Date(now.getTime() + tryMs) }
}

/** Whether a delivery is still in the attempt that was begun, and no other one has started since. */
export const isStillTried = (begun: Tries, held: Tries): boolean =>
  held.status === 'PENDING' && held.nextAttemptAt?.getTime() === begun.nextAttemptAt?.getTime()

/** Consequences of an attempt. */
export interface Concluded {
  readonly delivery: Partial<Tries> & { readonly responseStatus: Answered }
  /** Reason why the endpoint receives nothing more; null when deliveries continue. */
  readonly disabledReason: string | null
}

/**
 * Returns the consequences of an attempt. 410 means that the endpoint is gone; after the last attempt it is given up as
 * well.
 */
export function conclude({ attempts }: Pick<Tries, 'attempts'>, status: Answered, now: Date): Concluded {
  const over = { responseStatus: status, nextAttemptAt: null }
  if (status !== null && status >= 200 && status < 300) return { delivery: { ...over, status: 'DELIVERED' }, disabledReason: null }
  if (status === 410) return { delivery: { ...over, status: 'FAILED' }, disabledReason: 'It answered 410: the receiver wants no more deliveries.' }
  const pause = pauses[attempts]
  if (pause !== undefined) return { delivery: { responseStatus: status, nextAttemptAt: new Date(now.getTime() + pause) }, disabledReason: null }
  const last = status === null ? 'the last time without any answer' : `the last time with ${status}`
  return { delivery: { ...over, status: 'FAILED' }, disabledReason: `${attempts} tries over three days failed, ${last}.` }
}
