import { codeOf, DomainError } from '../../../../platform/errors.ts'
import type { ProblemCode } from '../../network/content/check.ts'
import type { Platform } from '../../network/network.ts'
import { platforms } from '../../network/networks.ts'
import type { TargetKind } from '../../network/publication.ts'
import { type Written, written } from '../content.ts'
import { checkCopy, longestCopy } from '../rules.ts'
import { instantIn } from '../zone.ts'
import { type CsvRecord, readCsv } from './csv.ts'

/** Limits of a file. */
export const mostRows = 500
export const mostBytes = 1024 * 1024

const known = ['platform', 'copy', 'scheduledAt', 'threadKey', 'targetKind', 'targetId', 'mediaIds', 'tags', 'campaignId', 'link', 'title'] as const
type Column = (typeof known)[number]

/** A problem of a row: of its post on a network, or of a cell that cannot be read. */
export interface RowProblem {
  readonly severity: 'ERROR' | 'WARNING'
  readonly code: ProblemCode | 'CELL_INVALID' | 'NOT_FOUND'
  readonly field: string
  readonly message: string
}

/** A row of the file: a valid post, or the problem of the row. */
export interface ImportRow {
  /** Number of the line on which the row begins; the header is line 1. */
  readonly line: number
  readonly post: ImportedPost | null
  readonly problems: readonly RowProblem[]
}

export interface ImportedPost {
  readonly platform: Platform
  readonly content: Written
  readonly scheduledAt: Date | null
  /** Rows with the same key form a thread, in the order of the file. */
  readonly threadKey: string | null
}

/**
 * Matches a header separated by semicolons or tabs, which spreadsheets of many countries write as CSV: the error names
 * the separator, not the quotes.
 */
const partedBy = /^\uFEFF?"?\w+"? *([;\t])/

/**
 * Reads a file of posts. A row that cannot be read has a problem of its own and does not affect the others.
 * @param zone time zone of times without an offset
 * @throws BAD_USER_INPUT for an invalid or too long file, and for an unknown header
 */
export function readRows(csv: string, zone: string): readonly ImportRow[] {
  if (Buffer.byteLength(csv) > mostBytes)
    throw new DomainError('BAD_USER_INPUT', `The file has more than ${mostBytes} bytes: send it in parts.`, { field: 'csv' })
  const parted = partedBy.exec(csv)?.[1]
  if (parted) throw wrong('csv', `The columns of the file are parted by ${parted === ';' ? 'semicolons' : 'tabs'}: save it with commas, as CSV in UTF-8.`)
  const [header, ...records] = readCsv(csv, mostRows)
  const columns = columnsOf(header)
  return timedByThread(records.map(record => readRow(record, columns, zone)))
}

/** Schedules threads as a whole: a row without a time gets the time of the row before. */
function timedByThread(rows: readonly ImportRow[]): readonly ImportRow[] {
  const times = new Map<string, Date | null>()
  return rows.map(row => {
    const { threadKey, scheduledAt } = row.post ?? {}
    if (!row.post || !threadKey) return row
    const at = scheduledAt ?? times.get(threadKey) ?? null
    times.set(threadKey, at)
    return { ...row, post: { ...row.post, scheduledAt: at } }
  })
}

function columnsOf(header: CsvRecord | undefined): readonly Column[] {
  const columns = (header?.fields ?? []).map(name => name.trim())
  const strange = columns.find(name => !known.includes(name as Column))
  const missing = ['platform', 'copy'].find(name => !columns.includes(name))
  if (strange !== undefined || missing || new Set(columns).size < columns.length)
    throw new DomainError(
      'BAD_USER_INPUT',
      `The first line of the file names its columns, each once: platform and copy, and any of ${known.slice(2).join(', ')}${strange === undefined ? '' : `; “${strange.slice(0, 40)}” is none`}.`,
      { field: 'csv' },
    )
  return columns as Column[]
}

function readRow({ line, fields }: CsvRecord, columns: readonly Column[], zone: string): ImportRow {
  try {
    if (fields.length !== columns.length) throw wrong('csv', `The row has ${fields.length} cells, and the header ${columns.length}.`)
    return { line, post: postOf(new Map(columns.map((column, at) => [column, fields[at]!])), zone), problems: [] }
  } catch (error) {
    if (codeOf(error) !== 'BAD_USER_INPUT') throw error
    const { message, extensions } = error as DomainError
    return { line, post: null, problems: [{ severity: 'ERROR', code: 'CELL_INVALID', field: String(extensions.field ?? 'csv'), message }] }
  }
}

const wrong = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

function postOf(cells: ReadonlyMap<Column, string>, zone: string): ImportedPost {
  const cell = (column: Column) => cells.get(column)?.trim() || null
  const listed = (column: Column) => (cell(column) ?? '').split(';').flatMap(each => each.trim() || [])
  const name = (cell('platform') ?? '').toUpperCase().replaceAll('-', '_')
  const platform = platforms.find(each => each === name)
  if (!platform) throw wrong('platform', `platform is none that is known here: write one of ${platforms.join(', ').toLowerCase()}.`)
  const input = {
    // Windows spreadsheets write CRLF into cells, which networks would count twice.
    copy: checkLength(cells.get('copy')!).replace(/\r\n?/g, '\n'),
    title: cell('title'),
    link: readAddress(cell('link')),
    tags: listed('tags'),
    media: listed('mediaIds').map(assetId => ({ assetId })),
    campaignId: cell('campaignId'),
    target: targetOf(cell('targetKind'), cell('targetId')),
  }
  return { platform, content: written(input, platform, null), scheduledAt: momentOf(cell('scheduledAt'), zone), threadKey: cell('threadKey') }
}

/**
 * Rejects a text that is too long even if each of its line breaks counted once, before further checks. @throws
 * BAD_USER_INPUT
 */
function checkLength(copy: string): string {
  return copy.length > 2 * longestCopy ? checkCopy(copy) : copy
}

function readAddress(given: string | null): string | null {
  if (given !== null && !URL.canParse(given)) throw wrong('link', 'link is no address: it begins with https:// or http://.')
  return given
}

const kinds: readonly TargetKind[] = ['PAGE', 'GROUP', 'ORGANIZATION', 'PHOTO_ACCOUNT', 'THREAD_ACCOUNT']

function targetOf(kind: string | null, externalId: string | null) {
  if (kind === null && externalId === null) return null
  const known = kinds.find(each => each === kind?.toUpperCase().replaceAll('-', '_'))
  if (!known || externalId === null)
    throw wrong('targetKind', `targetKind and targetId go together: write one of ${kinds.join(', ').toLowerCase()}, and the network’s id.`)
  return { kind: known, externalId, name: null }
}

const written8601 = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:?\d{2})?$/i

/** Whether a day and a time exist: `Date` would move others, such as 30 February or 24:00, to the next day. */
function isOnClocks(day: string, time: string): boolean {
  const [year, month, date] = day.split('-').map(Number) as [number, number, number]
  const [hour, minute, second = 0] = time.split(':').map(Number) as [number, number, number?]
  const at = new Date(Date.UTC(year, month - 1, date))
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === date && hour < 24 && minute < 60 && second < 60
}

/** Reads a moment; one without an offset is a local time of the zone. */
function momentOf(given: string | null, zone: string): Date | null {
  if (given === null) return null
  const [, day, time, offset] = written8601.exec(given) ?? []
  const at =
    day && time && isOnClocks(day, time)
      ? offset
        ? new Date(`${day}T${time}${offset.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`)
        : instantIn(zone, `${day}T${time}`)
      : null
  if (!at || Number.isNaN(at.getTime()))
    throw wrong('scheduledAt', 'scheduledAt is no time: write one such as 2027-03-01T09:30, or with an offset 2027-03-01T09:30+02:00.')
  return at
}
