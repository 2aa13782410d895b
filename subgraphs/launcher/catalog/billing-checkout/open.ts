import { DomainError } from '../../../../platform/errors.ts'
import type { Writing } from '../../../store/books.ts'
import { create, inTransaction } from '../../../store/write.ts'
import { currency, type Offer, unitMinorOf } from '../../engines/commerce/plans.ts'
import type { BillingProcessor } from '../../engines/commerce/processor.ts'
import type { BillingCheckoutRow, billingCheckoutStore } from '../../stores/commerce/checkout.ts'
import type { BillingPrices } from '../../stores/commerce/price.ts'
import type { BillingOwner, BillingSubscriptions, WorkspaceVerifications } from '../../stores/commerce/subscription.ts'
import { metadataOf, subscribed } from '../billing/rules.ts'

/** What pages are opened with. */
export interface Opening extends Writing {
  readonly billingCheckouts: ReturnType<typeof billingCheckoutStore.open>
  readonly billingSubscriptions: Pick<BillingSubscriptions, 'standingOf'>
  readonly workspaceVerifications: Pick<WorkspaceVerifications, 'standingOf'>
  readonly billingPrices: BillingPrices
  readonly billingProcessor: BillingProcessor
}

/** A page that is wanted. */
export interface WantedPage {
  readonly owner: BillingOwner
  readonly offer: Offer
  /** Absolute address that the page leads back to. */
  readonly returnTo: string
  /** As audit entries name the caller. */
  readonly actor: string
  /** Mail address of a buyer without an account. */
  readonly email?: string
  /** The input: its `idempotencyKey` identifies repetitions. */
  readonly once: { readonly idempotencyKey?: string | null | undefined }
  /** Organization or person under which the key is kept. */
  readonly tenantId: string
}

/** @throws CONFLICT, reason SUBSCRIBED, where something of the kind stands already */
async function requireNone({ billingSubscriptions, workspaceVerifications }: Opening, owner: BillingOwner, { kind }: Offer): Promise<void> {
  const standing = kind === 'BUNDLE' ? await billingSubscriptions.standingOf(owner) : await workspaceVerifications.standingOf(owner)
  if (standing.length > 0) throw subscribed()
}

/**
 * Opens a page of the processor. The checkout is written first and its id is the processor's key, so that a repetition
 * after a crash goes on with the same page.
 */
export async function openCheckout(context: Opening, { owner, offer, returnTo, actor, email, once, tenantId }: WantedPage): Promise<BillingCheckoutRow> {
  const { billingCheckouts, billingPrices, billingProcessor } = context
  await requireNone(context, owner, offer)
  const { row } = await create(context, {
    of: billingCheckouts,
    once,
    tenantId,
    run: ({ now }, id) => ({ id, ...owner, ...offer, returnTo, createdAt: now, updatedAt: now, createdBy: actor }),
    audit: ({ id }) => ({
      tenantId,
      action: 'billing_checkout.created',
      subjectId: id,
      details: { kind: offer.kind, package: offer.package, interval: offer.interval, seats: offer.seats },
    }),
  })
  if (row.status !== 'OPENING') return row
  const priceId = await billingProcessor.priceOf({ package: offer.package, interval: offer.interval, unitMinor: unitMinorOf(offer), currency }, billingPrices)
  const page = await billingProcessor.openPage({
    ...{ key: row.id, priceId, quantity: offer.seats, metadata: metadataOf(owner, offer), email: email ?? null },
    ...{ successUrl: row.returnTo, cancelUrl: row.returnTo },
  })
  return inTransaction(context, async ({ transaction, now }) => {
    const present = await billingCheckouts.lock(row.id, transaction)
    if (!present) throw new DomainError('NOT_FOUND', 'The checkout is gone: open another one.')
    if (present.status !== 'OPENING') return present
    const opened = { status: 'OPEN' as const, processorSessionId: page.id, url: page.url, expiresAt: page.expiresAt }
    return billingCheckouts.update(present, { ...opened, updatedAt: now, version: present.version + 1 }, transaction)
  })
}
