import { newId } from '../../../../platform/ids.ts'
import type { DisputeRow } from '../../../../subgraphs/payments/stores/events/dispute.ts'
import type { DisputeFileRow } from '../../../../subgraphs/payments/stores/events/dispute-file.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedPaid } from '../payment/seed.ts'

/** An open dispute of a paid order of its own, which the processor does not know. @param more what differs from that */
export async function seedDispute(
  graph: Pick<Supergraph, 'clock' | 'platform'>,
  place: { readonly organizationId: string; readonly userId?: string | null },
  more: Partial<DisputeRow> = {},
): Promise<DisputeRow> {
  const order = await seedPaid(graph, place)
  const job = graph.platform.payments.job('test')
  return inTransaction(job, async ({ transaction, now }) => {
    await job.orders.update(order, { disputedMinor: order.capturedMinor }, transaction)
    const id = newId(now)
    const { merchantId, organizationId, id: orderId, currency, capturedMinor: amountMinor } = order
    const what = { processorId: `du_${id}`, amountMinor, currency, reason: 'fraudulent', status: 'OPEN' } as const
    const times = { openedAt: now, evidenceDueBy: new Date(now.getTime() + 777_600_000), createdAt: now, updatedAt: now, createdBy: 'test' }
    return job.disputes.insert({ id, merchantId, organizationId, orderId, ...what, ...times, ...more }, transaction)
  })
}

/** A file of a dispute that the processor does not know. */
export function seedFile(graph: Pick<Supergraph, 'clock' | 'platform'>, { id: disputeId, organizationId }: DisputeRow): Promise<DisputeFileRow> {
  const job = graph.platform.payments.job('test')
  return inTransaction(job, ({ transaction, now }) => {
    const file = { processorId: 'file_1', name: 'a.pdf', contentType: 'application/pdf', bytes: 8 }
    return job.disputeFiles.insert({ id: newId(now), disputeId, organizationId, ...file, createdAt: now, updatedAt: now, createdBy: 'test' }, transaction)
  })
}
