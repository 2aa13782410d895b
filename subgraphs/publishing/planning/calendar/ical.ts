import { everyNetwork } from '../../network/networks.ts'
import { titleOfPost } from '../../news/announce.ts'
import type { BrandRow } from '../../stores/brand.ts'
import { type ToldPost, toldLength } from '../../stores/planning/calendar-feed.ts'

/** How many octets a line of iCalendar has at most, without its end (RFC 5545 §3.1). */
const lineOctets = 75
/** Folds a line as RFC 5545 §3.1 has it; no character is divided. */
export function fold(line: string): string {
  let folded = ''
  let octets = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > lineOctets) {
      folded += '\r\n '
      octets = 1
    }
    folded += character
    octets += size
  }
  return folded
}

/** A text as a value (RFC 5545 §3.3.11); characters that no calendar may hold are left out. */
export const escapeText = (text: string): string =>
  text
    // Some programs end a line where Unicode has one, too.
    .replace(/\r\n?|[\x85\u2028\u2029]/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
    .replace(/[\0-\x08\x0b-\x1f\x7f]/g, '')
    .replace(/[\\;,]/g, found => `\\${found}`)
    .replaceAll('\n', '\\n')

/** A moment in UTC: `20270301T093000Z`. */
const momentOf = (at: Date): string => `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

function eventOf(post: ToldPost): string[] {
  const { id, platform, copy, status, permalink, version, updatedAt, scheduledAt } = post
  const { title } = everyNetwork[platform]
  return [
    'BEGIN:VEVENT',
    `UID:${id}@publishing`,
    `DTSTAMP:${momentOf(updatedAt)}`,
    `LAST-MODIFIED:${momentOf(updatedAt)}`,
    `SEQUENCE:${version}`,
    `DTSTART:${momentOf(scheduledAt!)}`,
    'DURATION:PT15M',
    `SUMMARY:${escapeText(`${title}: ${titleOfPost(post)}`)}`,
    `DESCRIPTION:${escapeText([...copy].slice(0, toldLength).join(''))}`,
    `STATUS:${status === 'PUBLISHED' ? 'CONFIRMED' : 'TENTATIVE'}`,
    ...(permalink ? [`URL:${permalink.replace(/\s/g, '')}`] : []),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** A brand's posts as calendar programs read them (RFC 5545): times are in UTC, which every program shows in its own zone. */
export const calendarOf = ({ name }: Pick<BrandRow, 'name'>, told: readonly ToldPost[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//publishing//calendar//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    ...told.flatMap(eventOf),
    'END:VCALENDAR',
  ]
    .map(line => `${fold(line)}\r\n`)
    .join('')
