import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction, step } from '../../../store/write.ts'
import { leaseMs } from '../payment/intention.ts'
import { type Outcome, outcomeOf } from '../payment/outcome.ts'
import { announceBatch, writeCallback } from './announce.ts'
import { deliverCallbacks } from './callbacks.ts'
import { concludeTransfer } from './conclude.ts'
import type { SettlementWork } from './work.ts'

/** How many transfers of a batch are under way at once. */
const lanes = 5
/** How often batches are looked for that are to be worked on, in ms; how many a round takes, of one organization and together. */
const [everyMs, perOrganization, atOnce] = [5_000, 2, 10]

/** Works on batches that are due. The rows alone say what is due, so any number of processes may look at the same time. */
export const settlementSweep = (job: () => SettlementWork): Sweep => ({
  name: 'settlement batches',
  everyMs,
  asksOthers: true,
  async run() {
    const due = await job().settlementBatches.due(job().clock.now(), perOrganization, atOnce)
    await Promise.all(due.map(id => workOn(job(), id)))
  },
})

/** Pays out, or turns back, what is due of a batch, if it is due and no other process is at it; then tells the submitter. Never throws. */
export async function workOn(job: SettlementWork, batchId: string): Promise<void> {
  try {
    const { settlementBatches } = job
    const taken = await inTransaction(job, ({ now, transaction }) => settlementBatches.take(batchId, now, leaseUntil(now), transaction))
    if (!taken) return
    crash('batch-taken')
    if (taken.status === 'RECEIVED') await begin(job, batchId)
    void job.underway.run(() => deliverCallbacks(job, batchId))
    await Promise.all(Array.from({ length: lanes }, () => lane(job, batchId)))
    await settlementBatches.release(batchId)
    await deliverCallbacks(job, batchId)
  } catch (error) {
    job.log.error({ err: error, settlementBatchId: batchId }, 'a settlement batch could not be worked on; it is due again when its lease is over')
  }
}

const leaseUntil = (now: Date): Date => new Date(now.getTime() + leaseMs)

/** Writes a transfer for each line. */
async function begin(job: SettlementWork, batchId: string): Promise<void> {
  const { settlementBatches, settlementLines, events } = job
  await step(job, {
    of: settlementBatches,
    hold: batchId,
    decide(batch, unit) {
      if (batch.status !== 'RECEIVED') return null
      const changes = { status: 'PROCESSING' as const, lastSequence: batch.lastSequence + 1 }
      return {
        ...{ changes, isNews: true },
        async along() {
          await settlementLines.beginTransfers(batchId, batch.currency, unit.now, unit.transaction)
          await writeCallback(job, { ...batch, ...changes }, await settlementLines.states(batchId, unit.transaction), unit)
        },
      }
    },
    announce: ({ after }) => announceBatch(events, after),
  })
}

/** Makes one call after the other, until nothing of the batch is due. */
async function lane(job: SettlementWork, batchId: string): Promise<void> {
  for (;;) {
    const now = job.clock.now()
    const taken = await job.settlementBatches.takeTransfer(batchId, now, leaseUntil(now))
    if (!taken) return
    crash('transfer-taken')
    const outcome = await call(job, taken.id, taken.attempts === 1)
    crash('transfer-answered')
    if (!outcome) continue
    // An event of the processor may have been quicker, or a person.
    if (!(await concludeTransfer(job, taken.id, outcome)) && outcome.kind === 'SUCCEEDED') await noteContradiction(job, taken.id, outcome.processorId)
  }
}

/** Logs that the processor did what is recorded as failed, as when a person said so meanwhile: nothing is booked, and a person has to look. */
export async function noteContradiction({ transactions, log }: SettlementWork, transactionId: string, processorId: string | null): Promise<void> {
  const recorded = await transactions.byId.clear(transactionId).load(transactionId)
  if (recorded?.status !== 'FAILED') return
  log.error({ transactionId, processorId }, 'the processor carried out a transfer that is recorded as failed: undo it at the processor')
}

/** Calls the processor; the transaction's id is the key, so that the same call can be repeated. @returns null when it was over before */
async function call({ transactions, settlementLines, transfers }: SettlementWork, transactionId: string, isFirst: boolean): Promise<Outcome | null> {
  const [transaction, line] = await Promise.all([transactions.byId.load(transactionId), settlementLines.byTransaction(transactionId)])
  if (!transaction || !line) return null
  const { organizationId, amountMinor, currency, id: key, type } = transaction
  const told = { organizationId, key, amountMinor, currency, metadata: { batch_id: line.batchId, line_id: line.lineId } }
  try {
    const processorId =
      type === 'TRANSFER' ? await transfers.transfer({ ...told, payee: line.payee }) : await transfers.reverse({ ...told, transferId: line.transferId ?? '' })
    return processorId ? { kind: 'SUCCEEDED', processorId } : { kind: 'UNKNOWN' }
  } catch (error) {
    return outcomeOf(error, isFirst)
  }
}
