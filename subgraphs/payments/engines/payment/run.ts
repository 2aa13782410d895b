import { crash } from '../../../../platform/crash.ts'
import { conclude, isOpen } from './conclude.ts'
import { failureOf, type Outcome } from './outcome.ts'
import { callProcessor } from './processor.ts'
import type { PaymentWork } from './work.ts'

/**
 * Calls the processor for a transaction whose intention is recorded, and records what became of it.
 * @param isFirst whether nothing can have been sent for it before
 * @param isLate  whether its caller was answered meanwhile: what was not sent is a failure then, for the answer cannot be taken back
 * @returns the outcome; null when it was known before
 */
export async function runTransaction(job: PaymentWork, transactionId: string, isFirst: boolean, isLate = () => false): Promise<Outcome | null> {
  crash('intention-recorded')
  const transaction = await job.transactions.byId.load(transactionId)
  if (!transaction?.orderId || !isOpen(transaction)) return null
  const [order, refund] = await Promise.all([job.orders.byId.load(transaction.orderId), job.refunds.find(transaction.refundId)])
  const called = await callProcessor(job.processor, { order: order!, transaction, refund }, isFirst)
  const outcome: Outcome = called.kind === 'NOT_SENT' && isLate() ? { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR') } : called
  crash('processor-answered')
  if (!(await conclude(job, transactionId, outcome)) && outcome.kind === 'SUCCEEDED') await noteContradiction(job, transactionId, outcome.processorId)
  return outcome
}

/** Logs that the processor did what is recorded as failed, as when a person said so meanwhile: nothing is booked, and a person has to look. */
export async function noteContradiction(job: PaymentWork, transactionId: string, processorId: string | null): Promise<void> {
  const recorded = await job.transactions.byId.clear(transactionId).load(transactionId)
  if (recorded?.status !== 'FAILED') return
  // The answer to a repeated call is as old as the first one: the processor itself has said since that this refund failed.
  if (recorded.type === 'REFUND' && recorded.processorId !== null) return
  job.log.error({ transactionId, processorId }, 'the processor carried out a transaction that is recorded as failed: undo it at the processor')
}

/**
 * Runs a transaction, and waits for its outcome as long as an answer may take; the call goes on after that.
 * @throws what the gateway says where nothing was sent: nothing has changed then
 */
export async function runAndWait(job: PaymentWork, transactionId: string): Promise<void> {
  let late = false
  const running = job.underway.run(() => runTransaction(job, transactionId, true, () => late))
  let timer: NodeJS.Timeout | undefined
  const time = new Promise<null>(resolve => {
    timer = setTimeout(() => {
      late = true
      resolve(null)
    }, job.answersWithinMs)
  })
  const outcome = await Promise.race([running, time]).finally(() => clearTimeout(timer))
  if (outcome?.kind === 'NOT_SENT') throw outcome.refusal
}
