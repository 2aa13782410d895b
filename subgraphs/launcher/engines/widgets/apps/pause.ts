/** How often an app failed in a row, and until when it is left alone. */
export interface Failing {
  /** When each failure of the row happened, in ms; the last few. */
  readonly at: readonly number[]
  /** Until when it is not asked, in ms; null while it is. */
  readonly pausedUntil: number | null
}

/** Failures in a row that pause an app, the time in ms in which they happen, and for how long it is left alone. */
export const pausing = { failures: 5, withinMs: 60_000, ms: 30_000 } as const

/** Whether a request to an app is allowed now. */
export const mayAsk = (failing: Failing | undefined, now: number): boolean => !failing?.pausedUntil || now >= failing.pausedUntil

/**
 * Returns the state after a request began: the first one after a pause is the trial, and others wait for another pause.
 * @returns undefined where nothing is known of it
 */
export const asked = (failing: Failing | undefined, now: number): Failing | undefined =>
  failing?.pausedUntil ? { ...failing, pausedUntil: now + pausing.ms } : failing

/** Returns the state after a failure. A failed trial pauses at once. */
export function failed(failing: Failing | undefined, now: number): Failing {
  if (failing?.pausedUntil) return { at: [], pausedUntil: now + pausing.ms }
  const at = [...(failing?.at ?? []).filter(each => each > now - pausing.withinMs), now]
  return at.length >= pausing.failures ? { at: [], pausedUntil: now + pausing.ms } : { at, pausedUntil: null }
}
