import { widgetTopics } from '../../subgraph.ts'
import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { widgetHandlers } from './handlers.ts'
import { widgetResolvers } from './resolvers.ts'

/** Widgets of all services. */
export const widget: Noun<At> = {
  resolvers: widgetResolvers,
  handlers: widgetHandlers,
  // Every stream reads its widgets again each minute by itself, and sends what differs; when events were away it does at once.
  resync: ({ services: { events } }) => events.resync(widgetTopics, async (rest, _, away) => (away ? [{ ids: { app: rest.split('.', 1)[0]! } }] : [])),
}
