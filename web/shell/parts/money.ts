import { locale } from '../place.ts'

const formats = new Map<string, Intl.NumberFormat>()

function format(currency: string, digits?: number): Intl.NumberFormat {
  const key = `${currency} ${digits ?? ''}`
  let made = formats.get(key)
  if (!made) {
    made = new Intl.NumberFormat(locale, { style: 'currency', currency, ...(digits !== undefined && { maximumFractionDigits: digits }) })
    formats.set(key, made)
  }
  return made
}

/** An amount as the graph writes it, in the currency's minor unit: `€12.50`. */
export function money(amount: { readonly amountMinor: string | number | bigint; readonly currency: string }): string {
  // Amounts above what a number holds exactly are written from their digits.
  return format(amount.currency).format(decimalOf(amount) as unknown as number)
}

/** Micro-US-dollars (1 USD = 1,000,000); small amounts keep up to four decimals, so that a cent's part is not nothing. */
export function dollars(micros: string | number | null | undefined): string {
  if (micros === null || micros === undefined) return '–'
  const value = Number(micros) / 1_000_000
  return format('USD', value !== 0 && Math.abs(value) < 1 ? 4 : 2).format(value)
}

/** Micro-US-dollars of an amount that somebody typed in dollars; null for what is no amount. */
export function microsOf(text: string): string | null {
  const match = /^(\d{1,9})(?:[.,](\d{1,6}))?$/.exec(text.trim())
  return match ? String(BigInt(match[1]!) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'))) : null
}

/** An amount in minor units as somebody types it, with the decimals of its currency: `12.50`. */
export function decimalOf({ amountMinor, currency }: { readonly amountMinor: string | number | bigint; readonly currency: string }): string {
  const digits = format(currency).resolvedOptions().maximumFractionDigits ?? 2
  const [, sign, whole] = /^(-?)(\d+)$/.exec(String(amountMinor)) ?? ['', '', '0']
  const padded = whole!.padStart(digits + 1, '0')
  return `${sign}${digits === 0 ? padded : `${padded.slice(0, -digits)}.${padded.slice(-digits)}`}`
}

/** The minor units of an amount that somebody typed, with the decimals of its currency; null for what is no amount. */
export function minorOf(text: string, currency: string): string | null {
  const digits = format(currency).resolvedOptions().maximumFractionDigits ?? 2
  const match = /^(\d{1,12})(?:[.,](\d+))?$/.exec(text.trim())
  if (!match || (match[2] ?? '').length > digits) return null
  return String(BigInt(`${match[1]}${(match[2] ?? '').padEnd(digits, '0')}`))
}
