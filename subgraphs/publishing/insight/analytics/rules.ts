/** When a post is counted by itself, in ms after its publication: an hour, 6 h, 1, 3, 7 and 30 days. */
const hour = 3_600_000
const marks = [1, 6, 24, 72, 168, 720].map(hours => hours * hour)

/** How long a network is left alone with a post that could not be counted, in ms. */
export const againMs = 15 * 60_000
/** How often somebody may have a post counted, in ms. */
export const askMs = 60_000
/** How many days are summed at once. */
export const mostDays = 366

/** When a post is counted next; null when its last time has come. */
export function nextCount(publishedAt: Date, now: Date): Date | null {
  const mark = marks.find(after => publishedAt.getTime() + after > now.getTime())
  return mark === undefined ? null : new Date(publishedAt.getTime() + mark)
}

/** When a post is counted next that could not be counted now; null when nobody would look at it any more. */
export function nextTry(publishedAt: Date, now: Date): Date | null {
  const isPast = now.getTime() > publishedAt.getTime() + marks.at(-1)! + 24 * hour
  return isPast ? null : new Date(now.getTime() + againMs)
}

/** Whether a spreadsheet would take a text for something to run; in some languages signs of full width count as well. */
const runs = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell of CSV (RFC 4180): what a spreadsheet would run begins with an apostrophe. */
export function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = runs.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
