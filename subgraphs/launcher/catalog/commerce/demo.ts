import { write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { currency, type Offer, titleOf, unitMinorOf } from '../../engines/commerce/plans.ts'
import { type ProcessorObject, readSnapshot } from '../../engines/commerce/rules.ts'
import { giveSeats } from '../../engines/commerce/seats.ts'
import { takeIn } from '../../engines/commerce/take-in.ts'
import type { BillingOwner } from '../../stores/commerce/subscription.ts'
import { metadataOf } from '../billing/rules.ts'

/** The sandbox's payment processor. */
export interface DemoProcessor {
  /** Its origin. */
  readonly sandbox: string
  readonly key: string
}

/** What is bought in the demo. */
export const demoOffers = {
  everything: { kind: 'BUNDLE', package: 'EVERYTHING', interval: 'MONTH', seats: 50 },
  freeWorkspace: { kind: 'FREE_WORKSPACE', package: 'FREE_WORKSPACE', interval: 'YEAR', seats: 1 },
} as const satisfies Record<string, Offer>

/** Calls the sandbox's processor. @throws Error unless it answers with success */
async function call({ outbound }: Job, { sandbox, key }: DemoProcessor, path: string, form?: Readonly<Record<string, string>>): Promise<ProcessorObject> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': form?.client_reference_id ?? '' }
  const sent = form ? { method: 'POST', headers, body: new URLSearchParams(form).toString() } : { headers: { authorization: headers.authorization } }
  const { status, text } = await outbound(`${sandbox}/stripe/v1${path}`, sent)
  if (status !== 200) throw new Error(`the sandbox's processor answered ${path} with ${status}`)
  return JSON.parse(text) as ProcessorObject
}

const named = (prefix: string, values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${prefix}[${name}]`, value]))

/**
 * Buys an offer on the sandbox's page, and takes in what came of it: at a start nobody receives the processor's events
 * yet. What stands already is left as it is.
 */
export async function provideBundle(job: Job, processor: DemoProcessor, owner: BillingOwner, offer: Offer): Promise<void> {
  const standing = offer.kind === 'BUNDLE' ? await job.billingSubscriptions.standingOf(owner) : await job.workspaceVerifications.standingOf(owner)
  if (standing.length > 0) return
  const price = 'line_items[0][price_data]'
  const opened = await call(job, processor, '/checkout/sessions', {
    ...{ mode: 'subscription', success_url: job.dashboardUrl, client_reference_id: `demo-${offer.kind}-${owner.ownerId}` },
    ...{ [`${price}[currency]`]: currency.toLowerCase(), [`${price}[unit_amount]`]: String(unitMinorOf(offer)) },
    ...{ [`${price}[recurring][interval]`]: offer.interval.toLowerCase(), [`${price}[product_data][name]`]: titleOf(offer.package) },
    'line_items[0][quantity]': String(offer.seats),
    ...named('metadata', metadataOf(owner, offer)),
    ...named('subscription_data[metadata]', metadataOf(owner, offer)),
  })
  await job.outbound(`${processor.sandbox}/stripe/checkout/${opened.id}?sandbox_approve=1`, {})
  const { subscription } = await call(job, processor, `/checkout/sessions/${opened.id}`)
  const bought = await call(job, processor, `/subscriptions/${subscription}`)
  const snapshot = readSnapshot(bought)
  if (!snapshot) throw new Error("the sandbox's processor sold nothing")
  await write(job, { run: unit => takeIn(job, snapshot, new Date(Number(bought.created) * 1000), unit) })
  if (owner.ownerType === 'ORGANIZATION' && offer.kind === 'BUNDLE') await giveSeats(job, owner.ownerId)
}
