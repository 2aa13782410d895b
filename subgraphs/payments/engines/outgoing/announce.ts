import { bodyOf } from '../../../../platform/outbound/webhooks/send.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import type { WebhookDeliveries } from '../../stores/events/webhook-delivery.ts'
import type { OutgoingEvent } from '../../stores/events/webhook-endpoint.ts'

/** What events are announced with. */
export interface Announcing {
  readonly webhookDeliveries: Pick<WebhookDeliveries, 'announce'>
  /** The job that delivers them. */
  readonly outgoing: { wake(): void }
}

/** An event that has become true. */
export interface Announcement {
  readonly event: OutgoingEvent
  readonly organizationId: string
  /** The record that it is about. */
  readonly entityId: string
  /** The record as REST shows it at this moment: the same bytes are sent at every try. */
  readonly data: object
}

/**
 * Has an event sent to every endpoint of the organization that subscribes to it (Standard Webhooks). Call it in the transaction of the change,
 * after the change: what is rolled back is not sent, and what is committed is not lost.
 */
export async function announceToWebhooks(
  work: Announcing,
  { event, organizationId, entityId, data }: Announcement,
  { transaction, now }: WriteTransaction,
): Promise<void> {
  const count = await work.webhookDeliveries.announce(organizationId, event, entityId, bodyOf(event, data, now), now, transaction)
  if (count > 0) transaction.afterCommit(() => work.outgoing.wake())
}
