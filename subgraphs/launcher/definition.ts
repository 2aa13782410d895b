import { executableSchema } from '../executable.ts'
import type { Foundation, Subgraph } from '../subgraph.ts'
import { type Context, openContext } from './nouns.ts'
import { registration } from './registration.ts'
import { widgetResolvers } from './widget/resolvers.ts'

/** The launcher: the live widgets of every app on one dashboard. */
export function define(foundation: Foundation): Subgraph<Context> {
  return {
    registration,
    schema: executableSchema('launcher', { widget: widgetResolvers }),
    open: (viewer, operation) => openContext(foundation, viewer, operation),
    start: async () => {},
    stop: async () => {},
  }
}
