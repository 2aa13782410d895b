import type { CheckoutKind } from '../../stores/commerce/checkout.ts'
import type { BillingInterval, BillingPackage } from '../../stores/commerce/subscription.ts'

/** Currency of all prices. */
export const currency = 'USD'

/** Price of a seat for a month, in cents. A year costs ten months. */
const monthly: Readonly<Record<BillingPackage, bigint>> = { THREE: 1500n, FIVE: 2200n, TEN: 3500n, EVERYTHING: 4900n }

/** Price of a free workspace for a year, in cents: it verifies who is behind it. */
const verification = 100n

export const packages = Object.keys(monthly) as BillingPackage[]

/** Maximum seats of a subscription. */
export const maxSeats = 100_000

/** What is subscribed to. */
export interface Offer {
  readonly kind: CheckoutKind
  readonly package: BillingPackage | 'FREE_WORKSPACE'
  readonly interval: BillingInterval
  readonly seats: number
}

/** Returns the price of one of an offer for a period, in cents. */
export const unitMinorOf = ({ package: name, interval }: Pick<Offer, 'package' | 'interval'>): bigint => {
  if (name === 'FREE_WORKSPACE') return verification
  return interval === 'MONTH' ? monthly[name] : monthly[name] * 10n
}

const titles: Readonly<Record<Offer['package'], string>> = {
  THREE: 'Three apps',
  FIVE: 'Five apps',
  TEN: 'Ten apps',
  EVERYTHING: 'Every app',
  FREE_WORKSPACE: 'Verification of a free workspace',
}

/** Returns what people read on invoices. */
export const titleOf = (name: Offer['package']): string => titles[name]
