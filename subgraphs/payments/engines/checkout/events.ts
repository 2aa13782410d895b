import { type EventHandler, textIn } from '../webhook/event.ts'
import { lookAfterPage } from './look.ts'
import type { CheckoutWork } from './work.ts'

/** What happens on the processor's events of pages: the page is read, because an event may be old. */
export const sessionEvents: EventHandler<CheckoutWork> = {
  async whose({ checkoutSessions }, { object }) {
    const session = await checkoutSessions.byProcessorId(textIn(object, 'id') ?? '')
    return session && { organizationId: session.organizationId, orderId: session.orderId, isKnown: true }
  },

  async apply(work, { object }) {
    return (await lookAfterPage(work, textIn(object, 'id') ?? '')) ? 'DONE' : 'NOT_YET'
  },
}
