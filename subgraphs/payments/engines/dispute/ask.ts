import { crash } from '../../../../platform/crash.ts'
import { DomainError } from '../../../../platform/errors.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { inTransaction } from '../../../store/write.ts'
import type { DisputeRow } from '../../stores/events/dispute.ts'
import { leaseMs } from '../payment/intention.ts'
import { type Outcome, outcomeOf } from '../payment/outcome.ts'
import { nextTry } from '../payment/settle.ts'
import type { AnsweredDispute, EvidenceProcessor } from './processor.ts'
import { statusOf } from './rules.ts'
import { type DisputeWork, takeInDispute } from './take-in.ts'

/** What the processor is asked with about disputes. */
export interface EvidenceWork extends DisputeWork {
  readonly evidence: EvidenceProcessor
}

/**
 * Asks the processor for what is recorded of a dispute: that evidence goes to the bank, or that it is accepted. The same call under the same key
 * is repeated until it was answered.
 * @param isFirst whether nothing can have been sent for it before
 * @throws what the processor, or the gateway, refuses it with: what was recorded is taken back then
 */
export async function runDisputeAsk(job: EvidenceWork, id: string, isFirst: boolean): Promise<void> {
  crash('dispute-ask-recorded')
  const dispute = await job.disputes.byId.clear(id).load(id)
  if (!dispute?.asks) return
  let answer: AnsweredDispute | null
  try {
    answer = await call(job, dispute)
  } catch (error) {
    const outcome = outcomeOf(error, isFirst)
    if (outcome.kind === 'UNKNOWN' || outcome.kind === 'SUCCEEDED') return again(job, id)
    await takeBack(job, id)
    throw refusalOf(dispute, outcome)
  }
  crash('dispute-answered')
  const status = statusOf(answer?.status?.toLowerCase() ?? null)
  if (!answer || !status) return again(job, id)
  const { processorId, orderId } = dispute
  await takeInDispute(job, orderId, { processorId, status, occurredAt: job.clock.now(), evidenceDueBy: answer.evidenceDueBy, opening: null })
  crash('dispute-recorded')
  await update(job, id, () => ({ asks: null, nextAskAt: null }))
}

function call({ evidence }: EvidenceWork, { id, asks, organizationId, processorId, evidenceText, evidenceFiles }: DisputeRow) {
  if (asks === 'ACCEPT') return evidence.accept({ organizationId, key: `accept:${id}`, processorId })
  const fileIds = evidenceFiles.map(file => file.processorId)
  return evidence.submit({ organizationId, key: `evidence:${id}`, processorId }, { text: evidenceText, fileIds })
}

const update = (job: EvidenceWork, id: string, changes: (held: DisputeRow) => Partial<DisputeRow>): Promise<void> =>
  inTransaction(job, async ({ transaction }) => {
    const held = await job.disputes.lock(id, transaction)
    if (held?.asks) await job.disputes.update(held, changes(held), transaction)
  })

const again = (job: EvidenceWork, id: string): Promise<void> => update(job, id, ({ askAttempts }) => ({ nextAskAt: nextTry(askAttempts, job.clock.now()) }))

/** What a dispute is like again when nothing came of what was asked for. */
const takeBack = (job: EvidenceWork, id: string): Promise<void> =>
  update(job, id, ({ asks, status, version }) => ({
    ...{ asks: null, nextAskAt: null, version: version + 1, updatedAt: job.clock.now() },
    ...(asks === 'SUBMIT' && { evidenceText: null, evidenceFiles: [], evidenceBy: null, evidenceAt: null }),
    ...(asks === 'SUBMIT' && status === 'UNDER_REVIEW' && { status: 'OPEN' as const }),
  }))

function refusalOf({ asks }: DisputeRow, outcome: Outcome): DomainError {
  if (outcome.kind === 'NOT_SENT') return outcome.refusal
  const verb = asks === 'ACCEPT' ? 'accept' : 'submit'
  return new DomainError('CONFLICT', 'The processor does not take it: read the dispute again in a moment.', { reason: 'ILLEGAL_MOVE', verb, possible: [] })
}

/** How often disputes are looked for whose processor is to be asked again, in ms, and about how many one round asks. */
const [everyMs, atOnce] = [30_000, 20]

/** Asks the processor again about disputes whose answer was lost, and about those whose process died. */
export const disputeAsks = (job: () => EvidenceWork): Sweep => ({
  name: 'evidence of disputes',
  everyMs,
  asksOthers: true,
  async run() {
    const due = await job().disputes.dueAsks(job().clock.now(), atOnce)
    await Promise.all(due.map(id => lookAfter(job(), id)))
  },
})

/** One that cannot be looked after is due again when its lease is over. */
async function lookAfter(job: EvidenceWork, id: string): Promise<void> {
  try {
    const now = job.clock.now()
    const taken = await inTransaction(job, ({ transaction }) => job.disputes.takeAsk(id, now, new Date(now.getTime() + leaseMs), transaction))
    if (taken) await runDisputeAsk(job, id, false)
  } catch (error) {
    job.log.warn({ err: error, disputeId: id }, 'the processor did not take what a dispute was to be answered with')
  }
}
