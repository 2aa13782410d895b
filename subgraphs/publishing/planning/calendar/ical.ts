import { everyNetwork } from '../../network/networks.ts'
import { titleOfPost } from '../../news/announce.ts'
import type { BrandRow } from '../../stores/brand.ts'
import { type FeedPost, feedCopyLength } from '../../stores/planning/calendar-feed.ts'

/** Maximum octets of a line of iCalendar, without its line end (RFC 5545 §3.1). */
const lineOctets = 75
/** Folds a line by RFC 5545 §3.1, without dividing a character. */
export function fold(line: string): string {
  // A character takes at most three octets per UTF-16 unit.
  if (line.length * 3 <= lineOctets || Buffer.byteLength(line) <= lineOctets) return line
  const octets = Buffer.from(line)
  const pieces: string[] = []
  for (let at = 0; at < octets.length; ) {
    // Continuation lines begin with a space.
    let end = Math.min(octets.length, at + lineOctets - (at > 0 ? 1 : 0))
    while (end < octets.length && (octets[end]! & 0xc0) === 0x80) end -= 1
    pieces.push(octets.toString('utf8', at, end))
    at = end
  }
  return pieces.join('\r\n ')
}

/** Formats a text as a value (RFC 5545 §3.3.11), without characters that calendars must not contain. */
export const escapeText = (text: string): string =>
  text
    // Some programs also break lines at Unicode line separators.
    .replace(/\r\n?|[\x85\u2028\u2029]/g, '\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones
    .replace(/[\0-\x08\x0b-\x1f\x7f]/g, '')
    .replace(/[\\;,]/g, found => `\\${found}`)
    .replaceAll('\n', '\\n')

/** Formats a moment in UTC: `20270301T093000Z`. */
const momentOf = (at: Date): string => `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`

function eventOf(post: FeedPost): string[] {
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
    `DESCRIPTION:${escapeText(copy.length > feedCopyLength ? [...copy].slice(0, feedCopyLength).join('') : copy)}`,
    `STATUS:${status === 'PUBLISHED' ? 'CONFIRMED' : 'TENTATIVE'}`,
    ...(permalink ? [`URL:${permalink.replace(/\s/g, '')}`] : []),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

/** Number of posts that are written in one piece, which takes some milliseconds. */
const postsAtOnce = 50

const written = (lines: readonly string[]): string => lines.map(line => `${fold(line)}\r\n`).join('')

/**
 * Writes a brand's posts as iCalendar (RFC 5545), piece by piece. Times are in UTC; programs show them in their own
 * zone.
 */
export function* calendarOf({ name }: Pick<BrandRow, 'name'>, told: readonly FeedPost[]): Generator<string, void> {
  const head = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//publishing//calendar//EN', 'CALSCALE:GREGORIAN', 'METHOD:PUBLISH']
  yield written([...head, `NAME:${escapeText(name)}`, `X-WR-CALNAME:${escapeText(name)}`, 'REFRESH-INTERVAL;VALUE=DURATION:PT1H'])
  for (let at = 0; at < told.length; at += postsAtOnce) yield written(told.slice(at, at + postsAtOnce).flatMap(eventOf))
  yield written(['END:VCALENDAR'])
}
