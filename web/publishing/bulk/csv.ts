/** A cell of a CSV file (RFC 4180). What a spreadsheet would take for a formula gets an apostrophe before it: its author may be anybody. */
export function csvCell(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A file of rows, each as long as the first, which names the columns. */
export const csvOf = (rows: readonly (readonly (string | null | undefined)[])[]): string =>
  `${rows.map(row => row.map(each => csvCell(each ?? '')).join(',')).join('\r\n')}\r\n`
