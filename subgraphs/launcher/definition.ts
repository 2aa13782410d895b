import { executableSchema } from '../executable.ts'
import { contextsOf } from '../store/context.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { type Context, type Services, stores } from './context.ts'
import { registration } from './registration.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** The launcher: the live widgets of every app on one dashboard. */
export function define(foundation: Foundation): Subgraph<Context> {
  const { ask, events, log } = foundation
  const services: Services = { events, log: log.child({ subgraph: registration.slug }) }
  return {
    registration,
    schema: executableSchema('launcher', { widget: widgetResolvers }),
    open: contextsOf(registration.slug, stores(ask), services, foundation).open,
    start: async () => {},
    stop: async () => {},
  }
}
