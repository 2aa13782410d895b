/**
 * The moment at which clocks of a zone show this.
 * Where clocks are set back it is the first time that they show it; what they skip when they are set forward is moved on by as much.
 * @param zone  a name of the IANA database
 * @param local `2027-03-01T09:30`, with seconds or without
 * @returns an invalid date for what is no time
 */
export function instantIn(zone: string, local: string): Date {
  const asUtc = Date.parse(`${local}Z`)
  if (Number.isNaN(asUtc)) return new Date(Number.NaN)
  const before = asUtc - offsetAt(zone, asUtc - dayMs)
  const after = asUtc - offsetAt(zone, asUtc + dayMs)
  // Around a change of the clocks both are tried: of those that are true the first, and in the gap the one from before it.
  const isTrue = (moment: number) => moment + offsetAt(zone, moment) === asUtc
  return new Date(isTrue(before) ? before : isTrue(after) ? after : before)
}

const dayMs = 86_400_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** By how many ms clocks of a zone are ahead of UTC at a moment. */
function offsetAt(zone: string, moment: number): number {
  let format = formats.get(zone)
  if (!format) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', era: 'short', ...parts })
    // As many as there are zones, at most.
    formats.set(zone, format)
  }
  const shown = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value])) as Record<string, string>
  const { year, month, day, hour, minute, second } = shown
  return Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) - Math.floor(moment / 1000) * 1000
}
