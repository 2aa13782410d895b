import { dayAfter, localTime, startOfDay } from '../../../../platform/clock.ts'
import type { Clocks, Day } from '../../stores/insight/day-sums.ts'

/** A day of a time zone with its date: `2027-03-01`. */
export interface NamedDay extends Day {
  readonly day: string
}

const dayMs = 86_400_000
/** Number of days within which no time zone changes its clocks twice. */
const stride = 7

/** Returns a time zone's clock changes as this process knows them. */
export const clocksOf = (timeZone: string): Clocks => ({ timeZone, zones: process.versions.tz ?? process.version })

/** Returns the days of a zone from the first moment of a range to its last, both included. */
export function daysFrom(zone: string, first: Date, last: Date): NamedDay[] {
  const end = localTime(zone, last).day
  const days: NamedDay[] = []
  let [day, starts] = [localTime(zone, first).day, startOfDay(zone, localTime(zone, first).day)]
  while (day <= end) {
    const [next, nextStarts] = [dayAfter(day, stride), startOfDay(zone, dayAfter(day, stride))]
    // Most weeks have seven days of 24 hours: computing each midnight takes a hundred times longer.
    const isEven = nextStarts.getTime() - starts.getTime() === stride * dayMs
    for (let n = 0, from = starts; n < stride && dayAfter(day, n) <= end; n++) {
      const ends = isEven ? new Date(from.getTime() + dayMs) : startOfDay(zone, dayAfter(day, n + 1))
      days.push({ day: dayAfter(day, n), starts: from, ends })
      from = ends
    }
    ;[day, starts] = [next, nextStarts]
  }
  return days
}

/** Returns the days of a zone that contain the moments, without duplicates. */
export function daysOn(zone: string, moments: readonly Date[]): Day[] {
  const days = new Map<number, Day>()
  let last: Day | undefined
  for (const at of moments.toSorted((a, b) => a.getTime() - b.getTime())) {
    if (last && at < last.ends) continue
    last = daysFrom(zone, at, at)[0]!
    days.set(last.starts.getTime(), last)
  }
  return [...days.values()]
}
