import { retention } from '../../platform/jobs/retention.ts'
import { executableSchema } from '../executable.ts'
import { contextsOf } from '../store/context.ts'
import { type Facts, openFacts } from '../store/facts.ts'
import { type Foundation, type Subgraph, widgetTopics } from '../subgraph.ts'
import { actionItemResolvers } from './action-item/resolvers.ts'
import { resyncItems } from './action-item/rules.ts'
import { type Context, type Services, stores } from './context.ts'
import { received } from './received.ts'
import { registration } from './registration.ts'
import { aging } from './retention.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** The launcher: the live widgets of every app on one dashboard, and what waits for somebody in any of them. */
export function define(foundation: Foundation): Subgraph<Context> {
  const { ask, events, publicUrl } = foundation
  const { slug } = registration
  const log = foundation.log.child({ subgraph: slug })
  const services: Services = { events, log, publicUrl }
  const facts: Facts = openFacts(foundation, { slug: 'launcher', received, job: () => contexts.everybodys('facts'), log })
  const contexts = contextsOf(slug, stores(ask), services, foundation, facts)
  const jobs = foundation.openJobs({ slug, queues: [], sweeps: [...facts.sweeps, retention(foundation, [...aging, ...facts.aging])], log })
  // Every stream reads its widgets again each minute by itself, and sends what differs; when events were away it does at once.
  events.resync(widgetTopics, async (rest, _, away) => (away ? [{ ids: { app: rest.split('.', 1)[0]! } }] : []))
  resyncItems(events, (place, since) => contexts.everybodys('facts').actionItems.changedSince(place, since))
  return {
    registration,
    schema: executableSchema('launcher', { 'action-item': actionItemResolvers, widget: widgetResolvers }),
    open: contexts.open,
    receive: facts.receive,
    start: jobs.start,
    async ready() {
      await jobs.check()
      return facts.lying()
    },
    stop: async () => void (await Promise.all([jobs.stop(), facts.stop()])),
  }
}
