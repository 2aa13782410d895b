import { exponents } from '../../../currencies.ts'

/** An amount in decimals of its currency, without its code: 1250 of EUR is `12.50`, of JPY `1250`. */
export function decimalsOf(amountMinor: bigint, currency: string): string {
  const exponent = exponents.get(currency) ?? 0
  const [sign, digits] = amountMinor < 0n ? ['-', String(-amountMinor)] : ['', String(amountMinor)]
  if (exponent === 0) return sign + digits
  const padded = digits.padStart(exponent + 1, '0')
  return `${sign}${padded.slice(0, -exponent)}.${padded.slice(-exponent)}`
}
