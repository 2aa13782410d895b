/** Times after its publication at which a post's figures are read, in ms: an hour, 6 h, 1, 3, 7 and 30 days. */
const hour = 3_600_000
const marks = [1, 6, 24, 72, 168, 720].map(hours => hours * hour)

/** Pause in ms after a post's figures could not be read. */
export const againMs = 15 * 60_000
/** Minimum interval in ms at which a person may request a post's figures. */
export const askMs = 60_000
/** Maximum number of days summed at once. */
export const mostDays = 366

/** Returns when a post's figures are read next; null after the last time. */
export function nextCount(publishedAt: Date, now: Date): Date | null {
  const mark = marks.find(after => publishedAt.getTime() + after > now.getTime())
  return mark === undefined ? null : new Date(publishedAt.getTime() + mark)
}

/** Returns when failed figures are read again; null when nobody would look at them any more. */
export function nextTry(publishedAt: Date, now: Date): Date | null {
  const isPast = now.getTime() > publishedAt.getTime() + marks.at(-1)! + 24 * hour
  return isPast ? null : new Date(now.getTime() + againMs)
}
