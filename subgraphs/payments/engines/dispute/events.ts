import { fromProcessor } from '../../../currencies.ts'
import { whosePayment } from '../payment/events/refund.ts'
import { type Effect, type EventHandler, numberIn, objectIn, type ProcessorEvent, type Subject, textIn } from '../webhook/event.ts'
import { statusOf } from './rules.ts'
import { type DisputeWork, takeInDispute } from './take-in.ts'

async function whose(job: DisputeWork, event: ProcessorEvent): Promise<Subject | 'NOT_YET' | null> {
  const known = await job.disputes.find(await job.disputes.idAtProcessor(textIn(event.object, 'id') ?? ''))
  return known ? { organizationId: known.organizationId, orderId: known.orderId, isKnown: true } : whosePayment(job, event)
}

const momentIn = (object: ProcessorEvent['object'], name: string): Date | null => {
  const seconds = numberIn(object, name)
  return seconds > 0 ? new Date(seconds * 1000) : null
}

async function apply(job: DisputeWork, { object, occurredAt }: ProcessorEvent, { orderId }: Subject): Promise<Effect> {
  const status = statusOf(textIn(object, 'status'))
  if (status === null) return 'DONE'
  const { amountMinor } = fromProcessor(numberIn(object, 'amount'), textIn(object, 'currency') ?? '')
  return takeInDispute(job, orderId!, {
    ...{ processorId: textIn(object, 'id')!, status, occurredAt, evidenceDueBy: momentIn(objectIn(object, 'evidence_details'), 'due_by') },
    opening: { amountMinor, reason: textIn(object, 'reason') ?? 'general', openedAt: momentIn(object, 'created') },
  })
}

/** What happens on the processor's events of disputes. */
export const disputeEvents: EventHandler<DisputeWork> = { whose, apply }
