import { crash } from '../../../../platform/crash.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { step } from '../../../store/write.ts'
import type { SettlementBatchRow } from '../../stores/settlement/batch.ts'
import type { SettlementLineRow } from '../../stores/settlement/line.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { type Booking, bookings } from '../ledger/movements.ts'
import { post } from '../ledger/post.ts'
import { isOpen, type PersonsWord } from '../payment/conclude.ts'
import { failureOf, type Outcome } from '../payment/outcome.ts'
import { nextTry } from '../payment/settle.ts'
import { announceBatch, announceSettled, unknownTransferFacts, writeCallback } from './announce.ts'
import { statusAfter } from './rules.ts'
import type { SettlementWork } from './work.ts'

/** When what was not sent is tried again, and for how long, in ms. */
const [unsentMs, unsentForMs] = [30_000, 86_400_000]

/** What an outcome changes in a transfer or reversal, in its line, and in its batch's sums. */
export interface TransferSettlement {
  readonly transaction: Partial<TransactionRow>
  readonly line: Partial<SettlementLineRow>
  readonly sums: Partial<Pick<SettlementBatchRow, 'settledTotalMinor' | 'reversedTotalMinor'>>
  readonly booking: Booking | null
}

/** Decides what an outcome changes. It changes nothing itself. */
export function settleTransfer(
  batch: Pick<SettlementBatchRow, 'settledTotalMinor' | 'reversedTotalMinor'>,
  { type, attempts, amountMinor, createdAt }: Pick<TransactionRow, 'type' | 'attempts' | 'amountMinor' | 'createdAt'>,
  { payer }: Pick<SettlementLineRow, 'payer'>,
  outcome: Outcome,
  now: Date,
): TransferSettlement {
  const isReversal = type === 'TRANSFER_REVERSAL'
  const over = { nextAttemptAt: null, completedAt: now }
  if (outcome.kind === 'NOT_SENT' && now.getTime() - createdAt.getTime() < unsentForMs) {
    // As if it had not been tried: what comes of the next try is the outcome of a first one.
    const transaction = { status: 'PENDING' as const, attempts: 0, nextAttemptAt: new Date(now.getTime() + unsentMs) }
    return { transaction, line: {}, sums: {}, booking: null }
  }
  if (outcome.kind === 'UNKNOWN') {
    const transaction = { status: 'UNKNOWN' as const, nextAttemptAt: nextTry(attempts, now) }
    return { transaction, line: isReversal ? {} : { status: 'UNKNOWN' }, sums: {}, booking: null }
  }
  if (outcome.kind !== 'SUCCEEDED') {
    const { code, message } = outcome.kind === 'FAILED' ? outcome.failure : failureOf('PROCESSOR_ERROR')
    const failure = { failureCode: code, failureMessage: message }
    return { transaction: { ...over, ...failure, status: 'FAILED' }, line: { ...failure, ...(!isReversal && { status: 'FAILED' }) }, sums: {}, booking: null }
  }
  const { processorId } = outcome
  const [transaction, without] = [
    { ...over, status: 'SUCCEEDED' as const, processorId },
    { failureCode: null, failureMessage: null },
  ]
  if (isReversal) {
    const sums = { reversedTotalMinor: batch.reversedTotalMinor + amountMinor }
    return { transaction, line: { ...without, status: 'REVERSED' }, sums, booking: bookings.settlementReversed(payer, amountMinor) }
  }
  const sums = { settledTotalMinor: batch.settledTotalMinor + amountMinor }
  return { transaction, line: { ...without, status: 'SETTLED', transferId: processorId }, sums, booking: bookings.settled(payer, amountMinor) }
}

interface Along {
  readonly before: TransactionRow
  readonly after: TransactionRow
  readonly batch: Partial<SettlementBatchRow>
  /** What the ledger is to have of it; null: nothing. */
  readonly booking: Booking | null
}

/**
 * Records what became of a transfer or of its reversal, all in one database transaction: its row, its line, its batch, the ledger, the callback
 * that tells of it, and the audit. Only the first known outcome counts.
 * @param word what a person said of it, who ends it in the processor's place; null when the processor answered
 * @returns whether it was recorded now
 */
export async function concludeTransfer(job: SettlementWork, transactionId: string, outcome: Outcome, word: PersonsWord | null = null): Promise<boolean> {
  const { settlementBatches, transactions, events, publicUrl } = job
  const known = await transactions.byId.load(transactionId)
  if (!known?.settlementBatchId) return false
  let at = known.createdAt
  const stepped = await step(job, {
    of: settlementBatches,
    hold: known.settlementBatchId,
    async decide(batch, unit) {
      at = unit.now
      const before = await transactions.lock(transactionId, unit.transaction)
      const line = before && isOpen(before) ? await job.settlementLines.byTransaction(transactionId, unit.transaction) : null
      if (!before || !line) return null
      const settlement = settleTransfer(batch, before, line, outcome, unit.now)
      return { changes: ({ batch: changes }: Along) => changes, isNews: true, along: () => writeAlong(job, batch, { before, line }, settlement, unit) }
    },
    audit({ after: { merchantId }, along }) {
      const { before, after } = along!
      if (after.status === 'PENDING') return null
      const action = word ? 'transaction.resolved' : `transaction.${after.status === 'UNKNOWN' ? 'left_unknown' : after.status.toLowerCase()}`
      const what = { type: before.type, settlementBatchId: before.settlementBatchId, status: after.status, failure: after.failureCode }
      const details = { ...what, ...(word?.note && { changes: [{ field: 'note', before: null, after: word.note }] }) }
      return { tenantId: merchantId, action, subjectId: before.id, details }
    },
    async wake(changed, unit) {
      await announceSettled(job, changed, unit)
      const { after: batch, along } = changed
      // The very last: every statement after it would hold up the next posting of the merchant.
      if (along!.booking) await post(job, batch, [{ ...along!.booking, currency: batch.currency, settlementBatchId: batch.id }], unit)
    },
    facts: ({ after, along }) => unknownTransferFacts(after, along!.before, along!.after, publicUrl, at),
    announce({ after }) {
      crash('transfer-recorded')
      announceBatch(events, after)
    },
  })
  return stepped !== null
}

async function writeAlong(
  job: SettlementWork,
  batch: SettlementBatchRow,
  { before, line }: { readonly before: TransactionRow; readonly line: SettlementLineRow },
  settlement: TransferSettlement,
  unit: WriteTransaction,
): Promise<Along> {
  const { transactions, settlementLines } = job
  const stamps = ({ version }: { readonly version: number }) => ({ version: version + 1, updatedAt: unit.now })
  const after = await transactions.update(before, { ...settlement.transaction, ...stamps(before) }, unit.transaction)
  if (Object.keys(settlement.line).length > 0) await settlementLines.update(line, { ...settlement.line, ...stamps(line) }, unit.transaction)
  const tally = await settlementLines.tally(batch.id, unit.transaction)
  const status = statusAfter(batch.status, { ...tally, lines: batch.lineCount })
  let changes: Partial<SettlementBatchRow> = settlement.sums
  if (status !== batch.status) {
    changes = { ...changes, status, lastSequence: batch.lastSequence + 1, completedAt: unit.now, nextWorkAt: null }
    await writeCallback(job, { ...batch, ...changes }, await settlementLines.states(batch.id, unit.transaction), unit)
  }
  return { before, after, batch: changes, booking: settlement.booking }
}
