import type { Transaction } from 'sequelize'
import type { Events } from '../../../../platform/events.ts'
import { newId } from '../../../../platform/ids.ts'
import { bodyOf } from '../../../../platform/outbound/webhooks/send.ts'
import { type WriteTransaction, writing } from '../../../store/books.ts'
import type { FactBody, NewFact } from '../../../store/fact-kinds.ts'
import type { Changed } from '../../../store/write.ts'
import type { SettlementBatchRow } from '../../stores/settlement/batch.ts'
import type { SettlementCallbackRow } from '../../stores/settlement/callback.ts'
import type { LineState } from '../../stores/settlement/line.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { type Announcing, announceToWebhooks } from '../outgoing/announce.ts'
import { lower, moneyOf } from '../outgoing/record.ts'
import type { SettlementWork } from './work.ts'

/** The topic on which changes of a batch are announced. An event carries ids; whoever listens reads the row. */
export const batchTopic = (batchId: string): string => `payments.settlement_batch.${batchId}`

type Announced = Pick<SettlementBatchRow, 'id' | 'version'>
const eventOf = ({ id, version }: Announced) => [{ batchId: id }, String(version)] as const

/** Tells screens, after the commit, that a batch was written or changed. */
export const announceBatch = (events: Events, batch: Announced): void => events.announce(batchTopic(batch.id), ...eventOf(batch))

/** Has batches that somebody follows looked at again, for events may be lost between processes. */
export const resyncBatches = (events: Events, changedSince: (batchId: string, since: Date) => Promise<readonly Announced[]>): void =>
  events.resync(batchTopic(''), async (batchId, since) =>
    (await changedSince(batchId, since)).map(batch => {
      const [ids, mark] = eventOf(batch)
      return { ids, mark }
    }),
  )

/** Writes the callback that tells the present status of a batch, in the transaction that changes it. @param batch as it is written, with the callback's sequence */
export async function writeCallback(
  job: SettlementWork,
  batch: SettlementBatchRow,
  lines: readonly LineState[],
  { transaction, now }: WriteTransaction,
): Promise<void> {
  const { id: batchId, organizationId, externalBatchId, lastSequence: sequence, currency } = batch
  const status = batch.status.toLowerCase()
  const type = `settlement_batch.${status}`
  const data = {
    ...{ batchId, externalBatchId, sequence, status, currency },
    controlTotalMinor: Number(batch.controlTotalMinor),
    settledTotalMinor: Number(batch.settledTotalMinor),
    reversedTotalMinor: Number(batch.reversedTotalMinor),
    lines: lines.map(line => ({ ...line, status: line.status.toLowerCase(), failureCode: line.failureCode?.toLowerCase() ?? null })),
  }
  const stamps = { createdAt: now, updatedAt: now, createdBy: job[writing].actor }
  await job.settlementCallbacks.insert(
    { id: newId(now), batchId, organizationId, sequence, type, body: bodyOf(type, data, now), nextAttemptAt: now, ...stamps },
    transaction as Transaction,
  )
}

/** A batch as REST shows it, without its lines. */
const batchRecord = (batch: SettlementBatchRow): object => ({
  ...{ id: batch.id, externalBatchId: batch.externalBatchId, status: lower(batch.status), currency: batch.currency },
  controlTotal: moneyOf(batch.controlTotalMinor, batch.currency),
  settledTotal: moneyOf(batch.settledTotalMinor, batch.currency),
  reversedTotal: moneyOf(batch.reversedTotalMinor, batch.currency),
  ...{ lineCount: batch.lineCount, contentHash: batch.contentHash, policyDecisionId: batch.policyDecisionId, submittedBy: batch.submittedBy },
  ...{ createdAt: batch.createdAt, completedAt: batch.completedAt, version: batch.version },
})

/** Announces to webhooks that a batch was paid out, whole or in part. */
export async function announceSettled(work: Announcing, { before, after }: Changed<SettlementBatchRow>, unit: WriteTransaction): Promise<void> {
  const { status, organizationId, id: entityId } = after
  if (status === before.status || (status !== 'SETTLED' && status !== 'PARTIALLY_SETTLED')) return
  await announceToWebhooks(work, { event: 'settlement_batch.settled', organizationId, entityId, data: batchRecord(after) }, unit)
}

/** What managers are told of a transfer that has become, or is no longer, unknown; nothing where that has not changed. */
export function unknownTransferFacts(
  batch: SettlementBatchRow,
  before: TransactionRow,
  after: TransactionRow,
  publicUrl: string,
  at: Date,
): readonly NewFact[] {
  const [was, is] = [before.status === 'UNKNOWN', after.status === 'UNKNOWN']
  const key = `payment_unknown:${before.id}`
  if (was && !is) return [{ kind: 'attention.closed', body: { key } }]
  if (was || !is) return []
  const body: FactBody<'attention.opened'> = {
    ...{ key, kind: 'PAYMENT_UNKNOWN', organizationId: batch.organizationId, subjectId: before.id, audience: 'managers', severity: 'HIGH' },
    title: `Settlement batch ${batch.externalBatchId}: nobody knows whether a transfer went through`,
    url: `${publicUrl}/payments/api/transactions/${before.id}`,
    at: at.toISOString(),
  }
  return [{ kind: 'attention.opened', body }]
}

/** What managers are told of a callback that was given up, or was taken after that. */
export function deadCallbackFacts(
  { externalBatchId }: SettlementBatchRow,
  before: SettlementCallbackRow,
  after: SettlementCallbackRow,
  publicUrl: string,
  at: Date,
): readonly NewFact[] {
  const [was, is] = [before.status === 'DEAD', after.status === 'DEAD']
  const key = `callback_dead:${before.id}`
  if (was && !is) return [{ kind: 'attention.closed', body: { key } }]
  if (was || !is) return []
  const body: FactBody<'attention.opened'> = {
    ...{ key, kind: 'CALLBACK_DEAD', organizationId: before.organizationId, subjectId: before.id, audience: 'managers' },
    title: `Settlement batch ${externalBatchId}: callback ${before.sequence} could not be delivered`,
    url: `${publicUrl}/payments/api/settlement-batches/${before.batchId}`,
    at: at.toISOString(),
  }
  return [{ kind: 'attention.opened', body }]
}
