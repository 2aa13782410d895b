import { Refusal } from '../../../../platform/errors.ts'
import { exponents } from '../../../currencies.ts'

/** An amount as the graph has it. */
export interface Money {
  readonly amountMinor: bigint
  readonly currency: string
}

const codes = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/**
 * Where Stripe counts otherwise than ISO 4217 does (https://docs.stripe.com/currencies): some it counts without decimals, among them the
 * ariary, which has two; two that have none it wants with hundredths that are 00; of those with three the last is to be 0.
 */
const without = codes('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF')
const hundreds = codes('ISK UGX')
const thousands = codes('BHD JOD KWD OMR TND')

const decimalsAt = (currency: string): number => (without.has(currency) ? 0 : thousands.has(currency) ? 3 : 2)

/** Decimals by ISO 4217; of what is not on its list Stripe's own count is taken. */
const decimalsHere = (currency: string): number => exponents.get(currency) ?? decimalsAt(currency)

/** Money that Stripe has no count for: it would be taken for something else. */
const isUnknown = (currency: string): boolean => decimalsHere(currency) !== decimalsAt(currency) && !without.has(currency) && !hundreds.has(currency)

/**
 * An amount as Stripe counts it.
 * @param least 1 for what somebody pays, 0 for a price
 * @param field which of the input it is
 * @throws BAD_USER_INPUT for one that Stripe cannot be told exactly
 */
export function toProcessor({ amountMinor, currency }: Money, field: string, least: 0 | 1 = 1): { readonly amount: number; readonly currency: string } {
  const refuse = (why: string) => new Refusal('BAD_USER_INPUT', `${field}: ${why}.`, { field })
  if (isUnknown(currency)) throw refuse(`the processor is not paid in ${currency}: choose another currency`)
  if (amountMinor < least) throw refuse(`an amount of at least ${least} is needed`)
  const shift = decimalsAt(currency) - decimalsHere(currency)
  const step = shift < 0 ? 10n ** BigInt(-shift) : thousands.has(currency) ? 10n : 1n
  if (amountMinor % step !== 0n) throw refuse(`amounts of ${currency} are taken by the processor in steps of ${step} alone: round it`)
  const amount = shift < 0 ? amountMinor / step : amountMinor * 10n ** BigInt(shift)
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) throw refuse('it is more than the processor takes')
  return { amount: Number(amount), currency: currency.toLowerCase() }
}

/** An amount of Stripe's as the graph has it. @param currency in lower case, as Stripe writes it */
export function fromProcessor(amount: number, currency: string): Money {
  const code = currency.toUpperCase()
  const shift = decimalsAt(code) - decimalsHere(code)
  const whole = BigInt(amount)
  return { amountMinor: shift < 0 ? whole * 10n ** BigInt(-shift) : whole / 10n ** BigInt(shift), currency: code }
}

/** A part of something, whose currency Stripe does not ask for; left out, it is all of it. @throws BAD_USER_INPUT */
export const partIn = (money: Money | null | undefined, field: string): number | undefined => (money ? toProcessor(money, field).amount : undefined)

/**
 * Sees to it that a part is meant in the currency of the whole: Stripe would take 500 yen of a payment in euros for five of these.
 * @throws BAD_USER_INPUT
 */
export async function checkCurrency(money: Money | null | undefined, whole: () => Promise<{ readonly currency: string }>): Promise<void> {
  if (!money) return
  const currency = (await whole()).currency.toUpperCase()
  if (currency === money.currency) return
  throw new Refusal('BAD_USER_INPUT', `amount is in ${money.currency}, and what it is a part of in ${currency}: name it in ${currency}.`, {
    field: 'amount.currency',
  })
}

/** What the record of who did what says of money. */
export const detailsOf = (money: Money | null | undefined): Readonly<Record<string, unknown>> =>
  money ? { amountMinor: String(money.amountMinor), currency: money.currency } : {}
