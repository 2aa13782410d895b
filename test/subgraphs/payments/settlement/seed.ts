import { submitBatch } from '../../../../subgraphs/payments/engines/settlement/submit.ts'
import type { SettlementBatchRow } from '../../../../subgraphs/payments/stores/settlement/batch.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { seedOrder } from '../order/seed.ts'
import { batchOf } from './stage.ts'

/** A batch of one line that was received, and its first callback; nothing is paid out yet. */
export async function seedBatch(
  graph: Pick<Supergraph, 'clock' | 'platform'>,
  place: { readonly organizationId: string },
): Promise<{ readonly batch: SettlementBatchRow; readonly callbackId: string; readonly lineId: string }> {
  const { merchantId } = await seedOrder(graph, place)
  const job = graph.platform.payments.job('test')
  const { lines, ...batch } = batchOf([100])
  const given = { ...batch, controlTotalMinor: 100n, lines: lines.map(line => ({ ...line, amountMinor: BigInt(line.amountMinor) })) }
  const made = await submitBatch(job, { ...place, submittedBy: 'app_settlement', merchantOf: async () => merchantId }, given)
  const [callback] = await job.settlementCallbacks.manyBy('batchId').load(made.id)
  return { batch: made, callbackId: callback!.id, lineId: lines[0]!.lineId }
}

/** The same with its line paid out, as if by the processor: it can be turned back. */
export async function seedSettled(graph: Pick<Supergraph, 'clock' | 'platform' | 'rows'>, place: { readonly organizationId: string }): Promise<string> {
  const { batch } = await seedBatch(graph, place)
  await graph.rows(`update payments.settlement_lines set status = 'SETTLED', transfer_id = 'tr_seeded' where batch_id = $1`, [batch.id])
  await graph.rows(`update payments.settlement_batches set status = 'SETTLED', settled_total_minor = 100, next_work_at = null where id = $1`, [batch.id])
  return batch.id
}
