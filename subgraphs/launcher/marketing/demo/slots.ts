import { dayAfter, localTime, startOfDay, weekdayOf } from '../../../../platform/clock.ts'
import { momentOf } from '../body.ts'

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000]
/** Length of a demo, in ms. */
export const slotMs = 30 * minuteMs
/** How far ahead demos are booked, in ms. */
const ahead = { from: dayMs, to: 21 * dayMs } as const
/** Local times between which demos take place, Monday to Friday. */
const hours = { from: '09:00', to: '17:00' } as const

/** Whether demos begin at this moment, by the clock of a time zone. */
export function isSlot(zone: string, at: Date): boolean {
  if (at.getTime() % minuteMs !== 0) return false
  const { day, time } = localTime(zone, at)
  return weekdayOf(day) < 5 && time >= hours.from && time < hours.to && /:[03]0$/.test(time)
}

/** Whether a moment is neither too close nor too far to be booked. */
export const isBookable = (at: Date, now: Date): boolean => at.getTime() >= now.getTime() + ahead.from && at.getTime() <= now.getTime() + ahead.to

/** Starts of the slots within a period, earliest first: those that can be booked now. */
export function slotsWithin(zone: string, period: { readonly from: Date; readonly to: Date }, now: Date): readonly Date[] {
  const from = new Date(Math.max(period.from.getTime(), now.getTime() + ahead.from))
  const to = new Date(Math.min(period.to.getTime(), now.getTime() + ahead.to))
  const found: Date[] = []
  for (let { day } = localTime(zone, from); from <= to && startOfDay(zone, day) <= to; day = dayAfter(day, 1)) {
    if (weekdayOf(day) >= 5) continue
    const begins = startOfDay(zone, day).getTime()
    // Also on a day on which clocks change, office hours lie between the seventh hour and the nineteenth.
    for (let ms = 7 * hourMs; ms <= 19 * hourMs; ms += slotMs) {
      const at = new Date(begins + ms)
      if (at >= from && at <= to && isSlot(zone, at)) found.push(at)
    }
  }
  return found
}

/** Reads the period of a question for slots; without one, all that can be booked. @throws BAD_USER_INPUT with the field that is wrong */
export const readPeriod = (
  { from, to }: { readonly from: string | null; readonly to: string | null },
  now: Date,
): { readonly from: Date; readonly to: Date } => ({
  from: from === null ? now : momentOf(from, 'from'),
  to: to === null ? new Date(now.getTime() + ahead.to) : momentOf(to, 'to'),
})
