import { executableSchema } from '../executable.ts'
import type { Foundation, Registration, Subgraph } from '../subgraph.ts'
import type { Context } from './context.ts'
import { widgetResolvers } from './widget/resolvers.ts'

export const registration: Registration = {
  slug: 'launcher',
  appId: 'app_launcher',
  title: 'Launcher',
  contexts: ['personal', 'organization'],
  icon: '/icons/launcher.svg',
  asks: ['publishing:dashboard.read'],
  widget: null,
  lifecycle: 'active',
}

/** The launcher: the live widgets of every app on one dashboard. */
export function defineLauncher({ ask, events, log }: Foundation): Subgraph<Context> {
  return {
    registration,
    schema: executableSchema('launcher', [widgetResolvers]),
    open: (viewer, { requestId }) => ({ ask, events, log, viewer, requestId }),
    start: async () => {},
    stop: async () => {},
  }
}
