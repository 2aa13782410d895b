import type { Job } from '../../context.ts'
import { sessionEvents } from '../../engines/checkout/events.ts'
import { disputeEvents } from '../../engines/dispute/events.ts'
import { methodSessionEvents } from '../../engines/keeping/look.ts'
import { intentEvents } from '../../engines/payment/events/intent.ts'
import { refundEvents } from '../../engines/payment/events/refund.ts'
import { transferEvents } from '../../engines/settlement/events.ts'
import type { EventHandler, EventHandlers, ProcessorEvent } from '../../engines/webhook/event.ts'

/** A page is one on which somebody pays, or leaves a payment method. */
const ofPage = ({ object }: ProcessorEvent): EventHandler<Job> => (object.mode === 'setup' ? methodSessionEvents : sessionEvents)
const pageEvents: EventHandler<Job> = {
  whose: (job, event) => ofPage(event).whose(job, event),
  apply: (job, event, subject) => ofPage(event).apply(job, event, subject),
}

/** What happens on each type of event that the processor sends; any other type is IGNORED. The handlers are those of the objects. */
export const handlers: EventHandlers<Job> = {
  'checkout.session.completed': pageEvents,
  'checkout.session.expired': pageEvents,
  'payment_intent.succeeded': intentEvents,
  'payment_intent.payment_failed': intentEvents,
  'payment_intent.canceled': intentEvents,
  'payment_intent.amount_capturable_updated': intentEvents,
  'refund.created': refundEvents,
  'refund.updated': refundEvents,
  'refund.failed': refundEvents,
  'charge.dispute.created': disputeEvents,
  'charge.dispute.updated': disputeEvents,
  'charge.dispute.closed': disputeEvents,
  'transfer.created': transferEvents,
  'transfer.reversed': transferEvents,
}
