import { newId } from '../../../../platform/ids.ts'
import { bookings } from '../../../../subgraphs/payments/engines/ledger/movements.ts'
import { post } from '../../../../subgraphs/payments/engines/ledger/post.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedPaid } from '../payment/seed.ts'

/** Figures of an organization for every report: money that was taken and that the processor does not know of, and a card that was declined. */
export async function seedFigures(
  graph: Pick<Supergraph, 'clock' | 'platform'>,
  place: { readonly organizationId: string; readonly userId?: string | null },
): Promise<void> {
  const { id: orderId, merchantId, organizationId, currency, totalMinor: amountMinor } = await seedPaid(graph, place)
  const job = graph.platform.payments.job('test')
  await inTransaction(job, async unit => {
    const { transaction, now } = unit
    const of = { merchantId, organizationId, orderId, type: 'PURCHASE' as const, amountMinor, currency, attempts: 1, statusBefore: 'DRAFT' as const }
    const stamps = { completedAt: now, createdAt: now, updatedAt: now, createdBy: 'test' }
    await job.transactions.insert({ id: newId(now), ...of, status: 'SUCCEEDED', processorId: 'pi_seeded', ...stamps }, transaction)
    await job.transactions.insert({ id: newId(now), ...of, status: 'FAILED', failureCode: 'DECLINED', ...stamps }, transaction)
    await post(job, { merchantId, organizationId }, [{ ...bookings.captured(amountMinor), currency, orderId }], unit)
  })
}
