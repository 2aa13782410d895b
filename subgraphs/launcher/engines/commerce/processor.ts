import type { Ask } from '../../../../platform/ask.ts'
import { causeNow, organizationNow, originNow } from '../../../../platform/caller/cause.ts'
import { createPlaces, noParty } from '../../../../platform/caller/places.ts'
import { DomainError } from '../../../../platform/errors.ts'
import {
  BillingCheckoutAtProcessorDocument,
  ChangeBillingQuantityDocument,
  CreateBillingCustomerDocument,
  CreateBillingPriceDocument,
  ExpireBillingCheckoutDocument,
  OpenBillingCheckoutDocument,
  OpenBillingPortalDocument,
  PreviewBillDocument,
  SubscriptionAtProcessorDocument,
  type SubscriptionAtProcessorQuery,
} from '../../ask.generated.ts'
import { type PriceIds, registration } from '../../registration.ts'
import type { BillingPrice, BillingPrices } from '../../stores/commerce/price.ts'
import { currency, titleOf, unitMinorOf } from './plans.ts'
import { kindIn, ownerIn, type ProcessorObject, packageOf, type Snapshot, statusOf } from './rules.ts'

/** Asks for the platform itself, to which bundles are paid: on its account, and on nobody's behalf. */
const forPlatform = {
  appId: registration.appId,
  viewer: { userId: null, organizationId: null, roles: [], scopes: registration.asks, context: 'personal' as const },
  // A little longer than the gateway waits itself.
  timeoutMs: 29_000,
}

/** A page of the processor on which somebody subscribes. */
export interface OpenedPage {
  readonly id: string
  readonly url: string
  readonly expiresAt: Date
}

/** A page that is to be opened. */
export interface NewPage {
  /** The same key opens one page. */
  readonly key: string
  readonly priceId: string
  readonly quantity: number
  readonly metadata: Readonly<Record<string, string>>
  readonly successUrl: string
  readonly cancelUrl: string
  /** Mail address of a buyer who has no account. */
  readonly email: string | null
}

export interface BillLine {
  readonly description: string
  readonly quantity: number
  readonly amount: { readonly amountMinor: bigint; readonly currency: string }
}

/** What a bill would say. */
export interface Bill {
  readonly dueNow: BillLine['amount']
  readonly lines: readonly BillLine[]
}

/** The payment processor by the gateway to providers. Each call throws what the gateway refuses it with. */
export interface BillingProcessor {
  /** Returns a price of the processor, which is made once. */
  priceOf(price: BillingPrice, prices: BillingPrices): Promise<string>
  openPage(page: NewPage): Promise<OpenedPage>
  /** Closes a page on which nobody has paid. */
  closePage(id: string): Promise<void>
  /** Returns the subscription that came of a page; null while there is none. */
  subscriptionOfPage(id: string): Promise<string | null>
  /** Reads a subscription; null for one that the processor does not know. */
  subscription(id: string, prices: BillingPrices): Promise<Snapshot | null>
  changeQuantity(
    change: { readonly subscriptionId: string; readonly itemId: string; readonly quantity: number; readonly key: string },
    prices: BillingPrices,
  ): Promise<Snapshot>
  preview(change: { readonly subscriptionId: string; readonly itemId: string; readonly priceId: string; readonly quantity: number }): Promise<Bill>
  openPortal(customerId: string, returnUrl: string, key: string): Promise<string>
}

type Answered = NonNullable<SubscriptionAtProcessorQuery['processorSubscription']>

const unanswered = (): DomainError => new DomainError('UPSTREAM_FAILED', 'The payment processor gave no usable answer: try again.', { outcome: 'unknown' })

async function snapshotOf(answer: Answered, prices: BillingPrices): Promise<Snapshot> {
  const metadata = Object(answer.metadata ?? {}) as ProcessorObject
  const [item] = answer.items
  const status = statusOf(answer.status)
  if (!item || !status) throw unanswered()
  const price = await prices.ofId(item.priceId)
  return {
    ...{ processorSubscriptionId: answer.id, processorCustomerId: answer.customerId, processorItemId: item.id, status, seats: item.quantity ?? 1 },
    ...{ unitMinor: price?.unitMinor ?? null, currency: price?.currency ?? null, interval: price?.interval ?? null },
    currentPeriodEnd: answer.currentPeriodEnd === null || answer.currentPeriodEnd === undefined ? null : new Date(answer.currentPeriodEnd),
    cancelAtPeriodEnd: answer.cancelAtPeriodEnd,
    kind: kindIn(metadata),
    package: price && price.package !== 'FREE_WORKSPACE' ? price.package : packageOf(metadata.package),
    owner: ownerIn(metadata),
  }
}

/** Calls of a party that are under way at once, those that wait, and for how long, in ms. */
const calls = { all: Number.POSITIVE_INFINITY, ofParty: 4, waiting: 64 } as const
const waitMs = 20_000

/** Whom a call is made for: an organization, a person, or a visitor by address. The platform's own work is nobody's. */
const partyNow = (): string => organizationNow() ?? causeNow()?.caller ?? originNow()?.address ?? noParty

/**
 * Returns an asker that bounds what each party has under way. To the gateway all calls are the platform's own, so it cannot
 * tell one that asks for hundreds of previews from those who pay meanwhile.
 */
function inShares(ask: Ask): Ask {
  const places = createPlaces(calls)
  return async (document, variables, as) => {
    const party = partyNow()
    const place = places.enter(party, { signal: as.signal, until: performance.now() + waitMs })
    if (place) await place
    try {
      return await ask(document, variables, as)
    } finally {
      places.leave(party)
    }
  }
}

/** Returns the configured price of an id; null for none. */
function configuredOf(ids: PriceIds, id: string): BillingPrice | null {
  for (const [name, intervals] of Object.entries(ids) as [BillingPrice['package'], PriceIds[BillingPrice['package']]][])
    for (const interval of ['MONTH', 'YEAR'] as const)
      if (intervals?.[interval] === id) return { package: name, interval, unitMinor: unitMinorOf({ package: name, interval }), currency }
  return null
}

/**
 * Opens the processor behind the gateway.
 * @param ids of prices that stand at the processor already
 */
export const billingBy = (ask: Ask, ids: PriceIds = {}): BillingProcessor =>
  processorBy(inShares(ask), ids, (answer, prices) => snapshotOf(answer, { ...prices, ofId: async id => configuredOf(ids, id) ?? prices.ofId(id) }))

const processorBy = (ask: Ask, ids: PriceIds, snapshotOf: (answer: Answered, prices: BillingPrices) => Promise<Snapshot>): BillingProcessor => ({
  async priceOf(price, prices) {
    const known = ids[price.package]?.[price.interval] ?? (await prices.idOf(price))
    if (known) return known
    const { package: name, interval, unitMinor, currency } = price
    const input = {
      unitAmount: { amountMinor: String(unitMinor), currency },
      recurring: { interval },
      productData: { name: titleOf(name) },
      metadata: { package: name.toLowerCase() },
      idempotencyKey: `launcher-price:${name}:${interval}:${unitMinor}:${currency}`,
    }
    const { createProcessorPrice: made } = await ask(CreateBillingPriceDocument, { input }, forPlatform)
    if (!made) throw unanswered()
    await prices.keep(price, made.id)
    return made.id
  },

  async openPage({ key, priceId, quantity, email, ...page }) {
    const customer = email === null ? null : await ask(CreateBillingCustomerDocument, { input: { email, idempotencyKey: `${key}:customer` } }, forPlatform)
    const customerId = customer?.createProcessorCustomer?.id
    const input = {
      ...{ ...page, mode: 'SUBSCRIPTION' as const, lineItems: [{ priceId, quantity }], idempotencyKey: key },
      ...(customerId && { customerId }),
    }
    const { createProcessorCheckoutSession: opened } = await ask(OpenBillingCheckoutDocument, { input }, forPlatform)
    if (!opened?.url) throw unanswered()
    return { id: opened.id, url: String(opened.url), expiresAt: new Date(opened.expiresAt) }
  },

  async closePage(id) {
    await ask(ExpireBillingCheckoutDocument, { input: { id, idempotencyKey: `launcher-expire:${id}` } }, forPlatform)
  },

  async subscriptionOfPage(id) {
    return (await ask(BillingCheckoutAtProcessorDocument, { id }, forPlatform)).processorCheckoutSession?.subscriptionId ?? null
  },

  async subscription(id, prices) {
    try {
      const { processorSubscription: found } = await ask(SubscriptionAtProcessorDocument, { id }, forPlatform)
      return found ? await snapshotOf(found, prices) : null
    } catch (error) {
      if ((error as { extensions?: { code?: unknown } }).extensions?.code === 'NOT_FOUND') return null
      throw error
    }
  },

  async changeQuantity({ key: idempotencyKey, ...change }, prices) {
    const { changeProcessorSubscriptionQuantity: changed } = await ask(ChangeBillingQuantityDocument, { input: { ...change, idempotencyKey } }, forPlatform)
    if (!changed) throw unanswered()
    return snapshotOf(changed, prices)
  },

  async preview({ subscriptionId, ...item }) {
    const { processorInvoicePreview: bill } = await ask(PreviewBillDocument, { input: { subscriptionId, items: [item] } }, forPlatform)
    if (!bill) throw unanswered()
    const money = ({ amountMinor, currency }: { amountMinor: unknown; currency: unknown }) => ({
      amountMinor: BigInt(amountMinor as string | number),
      currency: String(currency),
    })
    return {
      dueNow: money(bill.amountDue),
      lines: bill.lines.map(({ description, quantity, amount }) => ({ description: description ?? '', quantity: quantity ?? 1, amount: money(amount) })),
    }
  },

  async openPortal(customerId, returnUrl, idempotencyKey) {
    const { createProcessorPortalSession: opened } = await ask(OpenBillingPortalDocument, { input: { customerId, returnUrl, idempotencyKey } }, forPlatform)
    if (!opened) throw unanswered()
    return String(opened.url)
  },
})
