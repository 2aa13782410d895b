import { DomainError } from '../../../../platform/errors.ts'
import { decimalsAt, decimalsHere, hundreds, type Money, without } from '../../../currencies.ts'

/** Whether Stripe does not support a currency: it would count amounts differently. */
const isUnknown = (currency: string): boolean => decimalsHere(currency) !== decimalsAt(currency) && !without.has(currency) && !hundreds.has(currency)

/**
 * Converts an amount to Stripe's form.
 * @param least 1 for payments, 0 for prices
 * @param field of the input
 * @throws BAD_USER_INPUT for an amount that Stripe cannot represent exactly
 */
export function toProcessor({ amountMinor, currency }: Money, field: string, least: 0 | 1 = 1): { readonly amount: number; readonly currency: string } {
  const refuse = (why: string) => new DomainError('BAD_USER_INPUT', `${field}: ${why}.`, { field })
  if (isUnknown(currency)) throw refuse(`the processor is not paid in ${currency}: choose another currency`)
  if (amountMinor < least) throw refuse(`an amount of at least ${least} is needed`)
  const shift = decimalsAt(currency) - decimalsHere(currency)
  // Stripe requires that the last digit of amounts in thousandths is 0, and reports violations itself.
  const step = shift < 0 ? 10n ** BigInt(-shift) : 1n
  if (amountMinor % step !== 0n) throw refuse(`amounts of ${currency} are taken by the processor in steps of ${step} alone: round it`)
  const amount = shift < 0 ? amountMinor / step : amountMinor * 10n ** BigInt(shift)
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw refuse('it is more than the processor takes')
  return { amount: Number(amount), currency: currency.toLowerCase() }
}

/** Converts a partial amount, for which Stripe needs no currency; omitted: the whole. @throws BAD_USER_INPUT */
export const partIn = (money: Money | null | undefined, field: string): number | undefined => (money ? toProcessor(money, field).amount : undefined)

/**
 * Checks that a partial amount has the currency of the whole: Stripe would take 500 yen as 5 euros.
 * @throws BAD_USER_INPUT
 */
export async function checkCurrency(money: Money | null | undefined, whole: () => Promise<{ readonly currency: string }>): Promise<void> {
  if (!money) return
  const currency = (await whole()).currency.toUpperCase()
  if (currency === money.currency) return
  throw new DomainError('BAD_USER_INPUT', `amount is in ${money.currency}, and what it is a part of in ${currency}: name it in ${currency}.`, {
    field: 'amount.currency',
  })
}

/** Returns the details of money for an audit entry. */
export const detailsOf = (money: Money | null | undefined): Readonly<Record<string, unknown>> =>
  money ? { amountMinor: String(money.amountMinor), currency: money.currency } : {}
