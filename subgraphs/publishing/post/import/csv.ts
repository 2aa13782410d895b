import { DomainError } from '../../../../platform/errors.ts'

/** A record of a CSV file, with the number of its first line, from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/**
 * Maximum fields of a record, and maximum empty lines that are skipped: a file of empty lines alone would block the
 * process.
 */
const bounds = { fields: 100, emptyLines: 10_000 } as const

const malformed = (line: number, why: string) => new DomainError('BAD_USER_INPUT', `Line ${line} of the file is no CSV: ${why}.`, { field: 'csv', line })

/**
 * Reads CSV (RFC 4180): commas, lines that end in LF or CRLF, fields in double quotes that hold either, and doubled quotes in those. Empty
 * lines are passed over.
 * @param most records beside the first
 * @throws BAD_USER_INPUT for quotes that stand where none may, or never end, and for more records
 */
export function readCsv(text: string, most: number): readonly CsvRecord[] {
  const records: CsvRecord[] = []
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text
  let at = 0
  let line = 1
  let empty = 0
  while (at < source.length) {
    const begins = line
    const fields: string[] = []
    for (;;) {
      let field: string
      if (source[at] === '"') {
        const quoted = quotedField(source, at, line)
        ;({ field, at, line } = quoted)
      } else {
        const end = endOf(source, at)
        field = source.slice(at, end)
        if (field.includes('"')) throw malformed(line, 'a quote stands within a field that does not begin with one')
        at = end
      }
      fields.push(field)
      if (fields.length > bounds.fields) throw malformed(line, `it has more than ${bounds.fields} columns`)
      if (source[at] !== ',') break
      at += 1
    }
    if (source[at] === '\r') at += 1
    if (source[at] === '\n') at += 1
    line += 1
    if (fields.length === 1 && fields[0] === '') {
      empty += 1
      if (empty > bounds.emptyLines) throw malformed(line, `more than ${bounds.emptyLines} lines are empty`)
      continue
    }
    records.push({ line: begins, fields })
    if (records.length > most + 1) throw new DomainError('BAD_USER_INPUT', `The file has more than ${most} rows: send it in parts.`, { field: 'csv' })
  }
  return records
}

/** A carriage return that does not end a line is part of its field. */
const endings = /,|\r?\n/g

function endOf(source: string, from: number): number {
  endings.lastIndex = from
  return endings.exec(source)?.index ?? source.length
}

function quotedField(source: string, from: number, begins: number): { field: string; at: number; line: number } {
  let at = from + 1
  let isDoubled = false
  for (;;) {
    at = source.indexOf('"', at) + 1
    if (at === 0) throw malformed(begins, 'a field in quotes never ends')
    if (source[at] !== '"') break
    isDoubled = true
    at += 1
  }
  const written = source.slice(from + 1, at - 1)
  const field = isDoubled ? written.replaceAll('""', '"') : written
  const next = source[at]
  const isEnd = next === undefined || next === ',' || next === '\n' || (next === '\r' && source[at + 1] === '\n')
  const line = begins + (field.match(/\n/g)?.length ?? 0)
  if (!isEnd) throw malformed(line, 'something follows the quote that ends a field')
  return { field, at, line }
}
