import { isId, newId } from '../../../../platform/ids.ts'
import { fromProcessor } from '../../../currencies.ts'
import { writing } from '../../../store/books.ts'
import { step } from '../../../store/write.ts'
import type { SettlementLineRow } from '../../stores/settlement/line.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { isOpen } from '../payment/conclude.ts'
import { type Effect, type EventHandler, numberIn, objectIn, type ProcessorEvent, type ProcessorObject, type Subject, textIn } from '../webhook/event.ts'
import { announceBatch, writeCallback } from './announce.ts'
import { concludeTransfer } from './conclude.ts'
import { allowsReversal } from './rules.ts'
import { noteContradiction } from './run.ts'
import type { SettlementWork } from './work.ts'

/** For how long a batch whose reversal is being taken in is left alone, in ms: the event is tried again before. */
const restMs = 3_600_000

/** The line that a transfer at the processor pays out: by its name there, or by what was sent along with it. */
async function lineOf({ transactions, settlementLines }: SettlementWork, object: ProcessorObject): Promise<SettlementLineRow | null> {
  const [named] = await transactions.atProcessor(textIn(object, 'id') ?? '')
  if (named) return settlementLines.byTransaction(named.id)
  const metadata = objectIn(object, 'metadata')
  const [batchId, lineId] = [textIn(metadata, 'batch_id'), textIn(metadata, 'line_id')]
  return batchId !== null && isId(batchId) && lineId !== null ? settlementLines.byName(batchId, lineId) : null
}

async function whose(job: SettlementWork, { object }: ProcessorEvent): Promise<Subject | null> {
  const line = await lineOf(job, object)
  return line && { organizationId: line.organizationId, orderId: null, isKnown: true }
}

async function apply(job: SettlementWork, { type, object }: ProcessorEvent): Promise<Effect> {
  const line = await lineOf(job, object)
  const transfer = line && (await job.transactions.byId.clear(line.id).load(line.id))
  if (!transfer) return 'NOT_YET'
  // Whatever has become of it since, the processor has made it.
  await concludeAs(job, transfer, textIn(object, 'id'))
  return type === 'transfer.reversed' ? takeInReversal(job, line.id, object) : 'DONE'
}

/** Records that a transfer was carried out; where it is recorded as failed, a person has to look. */
async function concludeAs(job: SettlementWork, { id, status }: TransactionRow, processorId: string | null): Promise<void> {
  const isRecorded = isOpen({ status }) && (await concludeTransfer(job, id, { kind: 'SUCCEEDED', processorId }))
  if (!isRecorded) await noteContradiction(job, id, processorId)
}

/** Takes in that a whole transfer was taken back: by a reversal of ours whose answer was lost, or by somebody at the processor itself. */
async function takeInReversal(job: SettlementWork, lineId: string, object: ProcessorObject): Promise<Effect> {
  const { transactions, settlementLines, log } = job
  const line = (await settlementLines.byTransaction(lineId))!
  const reversal = line.reversalId === null ? null : await transactions.byId.clear(line.reversalId).load(line.reversalId)
  const processorId = nameOfReversal(object)
  // One that failed here has been logged, and is now as it is here.
  if (line.status === 'REVERSED' || line.status === 'FAILED') return 'DONE'
  if (fromProcessor(numberIn(object, 'amount_reversed'), textIn(object, 'currency') ?? '').amountMinor < line.amountMinor) {
    log.error({ settlementLineId: line.id, processorId }, 'a part of a transfer was taken back at the processor: only whole lines are reversed here')
    return 'DONE'
  }
  const id = reversal && isOpen(reversal) ? reversal.id : await beginForeign(job, line)
  if (!id) return 'NOT_YET'
  return (await concludeTransfer(job, id, { kind: 'SUCCEEDED', processorId })) ? 'DONE' : 'NOT_YET'
}

/** What the processor calls the latest reversal of a transfer; null where the event does not say. */
function nameOfReversal(object: ProcessorObject): string | null {
  const [latest] = Object(objectIn(object, 'reversals').data ?? []) as readonly ProcessorObject[]
  return latest ? textIn(latest, 'id') : null
}

/** Records the reversal of a line that somebody made at the processor. @returns its id; null where the batch does not allow one at this moment */
async function beginForeign(job: SettlementWork, { id, batchId }: SettlementLineRow): Promise<string | null> {
  const { settlementBatches, settlementLines, events } = job
  let begun: string | null = null
  await step(job, {
    of: settlementBatches,
    hold: batchId,
    async decide(batch, unit) {
      const { now, transaction } = unit
      const line = await settlementLines.byTransaction(id, transaction)
      if (line?.status !== 'SETTLED' || !allowsReversal(batch)) return null
      const reversalId = newId(now)
      begun = reversalId
      const changes = {
        ...{ status: 'REVERSING' as const, lastSequence: batch.lastSequence + 1, completedAt: null },
        nextWorkAt: new Date(now.getTime() + restMs),
      }
      const along = async () => {
        await settlementLines.beginReversals(batchId, [[id, reversalId]], { currency: batch.currency, now, actor: job[writing].actor }, transaction)
        await writeCallback(job, { ...batch, ...changes }, await settlementLines.states(batchId, transaction), unit)
      }
      return { changes, isNews: true, along }
    },
    audit: ({ after }) => ({
      ...{ tenantId: after.merchantId, action: 'settlement_batch.reversed_at_processor', subjectId: after.id },
      details: { settlementLineId: id },
    }),
    announce: ({ after }) => announceBatch(events, after),
  })
  return begun
}

/** What happens on the processor's events of transfers. */
export const transferEvents: EventHandler<SettlementWork> = { whose, apply }
