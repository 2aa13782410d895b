/** A day as video networks count it: on the Pacific coast, however many hours it has. */
export interface PacificDay {
  /** `2026-11-22` */
  readonly date: string
  /** When the next one begins. */
  readonly resetsAt: Date
}

const zone = 'America/Los_Angeles'
const dates = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
const hours = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' })
/** How many hours that coast is behind UTC at midnight: in summer, in winter. */
const behind = [7, 8] as const

export function pacificDay(now: Date): PacificDay {
  const date = dates.format(now)
  const [year, month, day] = date.split('-').map(Number) as [number, number, number]
  const midnights = behind.map(hour => new Date(Date.UTC(year, month - 1, day + 1, hour)))
  return { date, resetsAt: midnights.find(each => Number(hours.format(each)) === 0)! }
}
