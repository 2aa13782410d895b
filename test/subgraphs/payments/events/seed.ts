import { newId } from '../../../../platform/ids.ts'
import type { WebhookEventRow } from '../../../../subgraphs/payments/stores/events/webhook-event.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

/** An event about an order that is over: IGNORED, unless said otherwise. */
export function seedEvent(
  graph: Pick<Supergraph, 'clock' | 'platform'>,
  { organizationId, orderId = null }: { readonly organizationId: string; readonly orderId?: string | null },
  more: Partial<WebhookEventRow> = {},
): Promise<WebhookEventRow> {
  const job = graph.platform.payments.job('test')
  return inTransaction(job, ({ transaction, now }) => {
    const id = newId(now)
    const what = { processorEventId: `evt_${id}`, type: 'payment_intent.succeeded', objectId: 'pi_seeded', payload: { id: `evt_${id}`, type: 'seeded' } }
    const over = { status: 'IGNORED', reason: 'STALE', attempts: 1, occurredAt: now, processedAt: now } as const
    return job.webhookEvents.insert({ id, organizationId, orderId, ...what, ...over, ...more, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction)
  })
}
