/** Rows as CSV (RFC 4180). A cell that a spreadsheet would run as a formula is kept as text. */
export function csvOf(rows: readonly (readonly (string | number | null | undefined)[])[]): string {
  const cell = (value: string | number | null | undefined) => {
    const text = String(value ?? '')
    const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  return rows.map(row => `${row.map(cell).join(',')}\r\n`).join('')
}
