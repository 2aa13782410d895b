/**
 * Returns the moment of a local time in a zone.
 * A time that occurs twice, when clocks are set back, gives its first occurrence; a time that is skipped, when clocks
 * are set forward, is moved forward by the skipped period.
 * @param zone  a name of the IANA database
 * @param local `2027-03-01T09:30`, with or without seconds
 * @returns an invalid date for an invalid time
 */
export function instantIn(zone: string, local: string): Date {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return new Date(Number.NaN)
  const before = asUtc - offsetAt(zone, asUtc - dayMs)
  const after = asUtc - offsetAt(zone, asUtc + dayMs)
  // Around a clock change both offsets are tried: the first valid result counts; in a gap, the offset from before it.
  const isTrue = (moment: number) => moment + offsetAt(zone, moment) === asUtc
  return new Date(isTrue(before) ? before : isTrue(after) ? after : before)
}

const dayMs = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the offset of a zone from UTC at a moment, in ms. */
function offsetAt(zone: string, moment: number): number {
  let format = formats.get(zone)
  if (!format) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', era: 'short', ...parts })
    // At most one entry for each time zone.
    formats.set(zone, format)
  }
  const shown = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value])) as Record<string, string>
  const { year, month, day, hour, minute, second } = shown
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) - Math.floor(moment / 1000) * 1000
}
