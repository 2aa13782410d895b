import { locale } from './place.ts'

/** The zone of this machine. */
export const ownZone: string = Intl.DateTimeFormat().resolvedOptions().timeZone

const formats = new Map<string, Intl.DateTimeFormat>()

function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`
  let made = formats.get(key)
  if (!made) {
    made = new Intl.DateTimeFormat(locale, { timeZone: zone, ...options })
    formats.set(key, made)
  }
  return made
}

/** A moment with its zone, and with its year where that is another than now: `Mon 2 Mar, 09:30 CET`. */
export function moment(at: string | Date, zone = ownZone): string {
  const year = format(zone, { year: 'numeric' })
  const isThisYear = year.format(new Date(at)) === year.format(new Date())
  const day: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short', ...(!isThisYear && { year: 'numeric' }) }
  return format(zone, { ...day, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }).format(new Date(at))
}

/** The time of day: `09:30`. */
export const timeOfDay = (at: string | Date, zone = ownZone): string => format(zone, { hour: '2-digit', minute: '2-digit' }).format(new Date(at))

/** A day in a calendar, which has no zone: `Monday 2 March`. @param day `2026-03-02` */
export const dayName = (day: string, options: Intl.DateTimeFormatOptions = { weekday: 'long', day: 'numeric', month: 'long' }): string =>
  format('UTC', options).format(new Date(`${day}T12:00:00Z`))

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })

/** How long ago, or ahead, below a day: `5 minutes ago`; else the moment itself. */
export function lately(at: string | Date, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  const size = Math.abs(seconds)
  if (size < 60) return relative.format(Math.round(seconds), 'second')
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute')
  return size < 86_400 ? relative.format(Math.round(seconds / 3600), 'hour') : moment(at)
}

/** The calendar day of a moment in a zone: `2026-03-02`. */
export function dayOf(at: string | Date, zone = ownZone): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return parts.format(new Date(at))
}

/** The time at a wall in a zone, as `2026-03-02T09:30`. */
export function wallTime(at: string | Date, zone: string): string {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    })
      .formatToParts(new Date(at))
      .map(({ type, value }) => [type, value]),
  )
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`
}

/** The moment at which a zone's walls show a time; null where a change of clocks skips it. Of two it is the first. */
export function momentAtWall(wall: string, zone: string): Date | null {
  const guess = Date.parse(`${wall}:00Z`)
  for (const hours of [-14, -12, -10, -8, -6, -4, -2, 0, 2, 4, 6, 8, 10, 12]) {
    const there = Date.parse(`${wallTime(new Date(guess + hours * 3_600_000), zone)}:00Z`)
    const at = new Date(guess - (there - (guess + hours * 3_600_000)))
    if (wallTime(at, zone) === wall) return at
  }
  return null
}
