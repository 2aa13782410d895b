/** Time as a parameter: whoever needs "now" is given a clock, so that tests can bind it. SQL takes it as a bind value. */
export interface Clock {
  /** The present moment, millisecond precision. */
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** A clock that stands still until it is moved: what tests hand to everything that asks for the time. */
export interface BoundClock extends Clock {
  /** Moves the clock by so many milliseconds (negative moves back). */
  advance(milliseconds: number): void
  set(moment: Date): void
}

export function createBoundClock(start: Date): BoundClock {
  let at = start.getTime()
  return {
    now: () => new Date(at),
    advance: milliseconds => {
      at += milliseconds
    },
    set: moment => {
      at = moment.getTime()
    },
  }
}

const dayMs = 86_400_000

/** The UTC day around a moment. */
export function dayOf(now: Date): { from: Date; to: Date } {
  const from = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  return { from, to: new Date(from.getTime() + dayMs) }
}

/** The Monday, 00:00 UTC, of the week around a moment. */
export function weekBegin(now: Date): Date {
  const { from } = dayOf(now)
  return new Date(from.getTime() - ((from.getUTCDay() + 6) % 7) * dayMs)
}
