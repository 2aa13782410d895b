import { dayAfter, localTime, momentOf, offsetAt, startOfDay, weekdayOf } from '../../../../platform/clock.ts'
import type { PreferencesRow } from '../../stores/inbox/notification-preferences.ts'

/** Quiet hours of a person, in their time zone; null for both ends: none. */
export type QuietHours = Pick<PreferencesRow, 'timeZone' | 'quietFrom' | 'quietTo'>

const [minuteMs, dayMs] = [60_000, 86_400_000]

/** Returns the ms since midnight of a time such as `08:00`. */
function msOf(time: string): number {
  const [hours, minutes] = time.split(':').map(Number) as [number, number]
  return (hours * 60 + minutes) * minuteMs
}

const timeOfDay = (ms: number): number => ((ms % dayMs) + dayMs) % dayMs

/** Returns when the offset of a zone changes between two moments; null when it is the same at both. */
function changeBetween(zone: string, from: number, to: number): number | null {
  const before = offsetAt(zone, from)
  if (offsetAt(zone, to) === before) return null
  let [low, high] = [from, to]
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(zone, middle) === before) low = middle
    else high = middle
  }
  return Math.floor(high / 1000) * 1000
}

/**
 * Returns when the quiet hours end that a moment lies in, by what clocks on the wall show: also on days on which they
 * are changed. Null when it is not quiet.
 */
export function quietEnd({ timeZone, quietFrom, quietTo }: QuietHours, now: Date): Date | null {
  if (quietFrom === null || quietTo === null) return null
  const [from, length] = [msOf(quietFrom), timeOfDay(msOf(quietTo) - msOf(quietFrom))]
  const spent = (at: number) => timeOfDay(at + offsetAt(timeZone, at) - from)
  let at = now.getTime()
  if (spent(at) >= length) return null
  // Clocks change at most twice within quiet hours, and each change may end them.
  for (let changes = 0; changes < 3; changes += 1) {
    const end = at + length - spent(at)
    const change = changeBetween(timeZone, at, end)
    if (change === null || change >= end) return new Date(end)
    if (spent(change) >= length) return new Date(change)
    at = change
  }
  return new Date(at)
}

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const

/** When a person wants digests, and the quiet hours whose end they wait for. */
export type DigestTimes = QuietHours & Pick<PreferencesRow, 'digest'>

/** Returns when a person's next digest is due after a moment, by what clocks on the wall show; null for none. */
export function nextDigest(preferences: DigestTimes, after: Date): Date | null {
  const { timeZone, digest } = preferences
  const { frequency, at, weekday } = digest
  if (frequency === 'OFF') return null
  const { day: today } = localTime(timeZone, after)
  // Yesterday's may wait for the end of quiet hours; the second week is for a zone that skipped a day.
  for (let days = -1; days <= 15; days += 1) {
    const day = dayAfter(today, days)
    if (frequency === 'WEEKLY' && weekdays[weekdayOf(day)] !== weekday) continue
    if (localTime(timeZone, startOfDay(timeZone, day)).day !== day) continue
    const moment = momentOf(timeZone, { day, time: at })
    const due = quietEnd(preferences, moment) ?? moment
    if (due > after) return due
  }
  return null
}
