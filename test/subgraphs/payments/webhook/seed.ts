import { newId } from '../../../../platform/ids.ts'
import type { PaymentWebhookDeliveryRow } from '../../../../subgraphs/payments/stores/events/webhook-delivery.ts'
import { type PaymentWebhookRow, placeOfSecret } from '../../../../subgraphs/payments/stores/events/webhook-endpoint.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'

type Graph = Pick<Supergraph, 'clock' | 'platform'>
interface Place {
  readonly organizationId: string
}

/** A webhook for paid orders that nothing answers. */
export function seedWebhook(graph: Graph, { organizationId }: Place): Promise<PaymentWebhookRow> {
  const job = graph.platform.payments.job('test')
  return inTransaction(job, async ({ transaction, now }) => {
    const [id, secretId] = [newId(now), newId(now)]
    const what = { organizationId, id, url: 'https://example.com/hook', events: ['order.paid'] }
    const made = await job.webhookEndpoints.insert({ ...what, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction)
    await job.webhookEndpoints.keepSecret(secretId, id, job.cipher.seal('whsec_c2VlZGVk', placeOfSecret(secretId)), transaction)
    return made
  })
}

/** A delivery that came to its end, to a webhook of its own. */
export async function seedDelivery(graph: Graph, place: Place): Promise<PaymentWebhookDeliveryRow> {
  const { organizationId, id: endpointId } = await seedWebhook(graph, place)
  const job = graph.platform.payments.job('test')
  return inTransaction(job, ({ transaction, now }) => {
    const what = { organizationId, id: newId(now), endpointId, event: 'order.paid', entityId: newId(now), body: '{}', status: 'FAILED' } as const
    return job.webhookDeliveries.insert({ ...what, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction)
  })
}
