import { DomainError } from './errors.ts'

/** Time as a parameter, so that tests can set it. SQL receives it as a bind value. */
export interface Clock {
  /** The present moment, millisecond precision. */
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }

/** A clock for tests, which stands still until it is moved. */
export interface BoundClock extends Clock {
  /** Moves the clock by a number of milliseconds (negative moves back). */
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

/** A moment in a time zone's local time: `2027-03-01`, `09:30`. */
export interface LocalTime {
  readonly day: string
  readonly time: string
}

/** Cached formats of time zones: there are about six hundred names, and creating a format is slow. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone)
  if (!format) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
    format = new Intl.DateTimeFormat('en-US', { ...digits, timeZone: zone, hourCycle: 'h23', era: 'short' })
    formats.set(zone, format)
  }
  return format
}

/** Returns the local time of a zone, as the ms of a UTC clock that shows the same. */
function wallOf(zone: string, at: number): number {
  const part = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  ) as Record<string, string>
  const [year, month, day, hour, minute, second] = ['year', 'month', 'day', 'hour', 'minute', 'second'].map(name => Number(part[name])) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

/** @param zone a name of the IANA database. @throws RangeError for an unknown one */
export function localTime(zone: string, at: Date): LocalTime {
  const wall = new Date(wallOf(zone, at.getTime())).toISOString()
  return { day: wall.slice(0, 10), time: wall.slice(11, 16) }
}

/** Returns the offset of a zone from UTC at a moment, in ms. */
export const offsetAt = (zone: string, at: number): number => wallOf(zone, at) - Math.floor(at / 1000) * 1000

/**
 * Returns when clocks of a zone show a local time: the first of two such moments, and the end of an hour that is skipped.
 * @param local with the day as `2027-03-01` and the time as `09:30`
 */
export function momentOf(zone: string, { day, time }: LocalTime): Date {
  const wall = Date.parse(`${day}T${time}:00Z`)
  // The offset may change on this day, so the offsets of a day before and a day after are both tried.
  const offsets = [wall - dayMs, wall + dayMs].map(at => offsetAt(zone, at))
  const moments = offsets.map(offset => wall - offset).sort((a, b) => a - b)
  return new Date(moments.find(at => wallOf(zone, at) >= wall) ?? moments[1]!)
}

/**
 * Returns the first moment of a day in a zone, also where clocks change at midnight.
 * @param day as `2027-03-01`
 */
export const startOfDay = (zone: string, day: string): Date => momentOf(zone, { day, time: '00:00' })

/** Returns the day that is a number of days later: `2027-03-01` and 1 give `2027-03-02`. */
export const dayAfter = (day: string, days: number): string => new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10)

/** Returns a day's position in its week: 0 for Monday, 6 for Sunday. */
export const weekdayOf = (day: string): number => (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7

/**
 * Returns a time zone as the IANA database writes it.
 * @throws BAD_USER_INPUT for an unknown name, and for offsets such as `+02:00`, which have no daylight saving time
 */
export function readTimeZone(given: string | null | undefined): string {
  const wanted = given?.trim() ?? ''
  const zone = /^[a-z]/i.test(wanted) ? zoneOf(wanted) : null
  if (zone === null)
    throw new DomainError('BAD_USER_INPUT', 'timeZone is no name of the IANA database: write one such as Europe/Berlin, or UTC.', { field: 'timeZone' })
  // A time zone's older name is stored as written; only its letter case is normalized.
  return zone.toLowerCase() === wanted.toLowerCase() ? zone : wanted
}

function zoneOf(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return null
  }
}
