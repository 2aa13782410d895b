/** Matches texts that a spreadsheet would run as a formula; in some languages full-width signs count as well. */
const runs = /^[=+\-@\t\r\n＝＋－＠]/

/** Writes a cell of CSV (RFC 4180); an apostrophe precedes a text that a spreadsheet would run. */
export function cell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = runs.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Writes a row of CSV with its line end. */
export const csvRow = (values: readonly (string | number | null)[]): string => `${values.map(cell).join(',')}\r\n`
