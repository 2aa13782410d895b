import type { Context } from '../context.ts'
import type { Resolvers, ServiceContext, ServiceLifecycle, WidgetAudience } from '../resolvers.generated.ts'

/** The registry of this environment, by slug: a few dozen entries, read once for an operation. */
const registry = ({ serviceEntries, environment }: Context) => serviceEntries.manyBy('environment').load(environment)

export const serviceEntryResolvers: Resolvers = {
  Query: {
    services: (_, _arguments, context) => registry(context),
    service: async (_, { slug }, context) => (await registry(context)).find(entry => entry.slug === slug) ?? null,
  },

  ServiceEntry: {
    __resolveReference: async ({ id }, context) => (await registry(context)).find(entry => entry.id === id) ?? null,
    contexts: ({ contexts }) => contexts.map(context => context.toUpperCase() as ServiceContext),
    scopes: ({ scopes }) => scopes.map(scope => ({ ...scope, permission: scope.name.replace('.', ':') })),
    addresses: ({ addresses }) => Object.entries(addresses).map(([role, url]) => ({ role, url })),
    widgetAudience: ({ widgetAudience }) => (widgetAudience ? (widgetAudience.toUpperCase() as WidgetAudience) : null),
    lifecycle: ({ lifecycle }) => lifecycle.toUpperCase() as ServiceLifecycle,
  },
}
