import type { Resolvers, ServiceContext, ServiceLifecycle, WidgetAudience } from '../resolvers.generated.ts'

type ServiceEntryResolvers = Pick<Resolvers, 'ServiceEntry'> & {
  Query: Pick<NonNullable<Resolvers['Query']>, 'services' | 'service'>
}

export const serviceEntryResolvers: ServiceEntryResolvers = {
  Query: {
    services: (_, _arguments, { services }) => services.all(),
    service: (_, { slug }, { services }) => services.bySlug.load(slug),
  },

  ServiceEntry: {
    __resolveReference: ({ id }, { services }) => services.byId.load(id),
    contexts: ({ contexts }) => contexts.map(context => context.toUpperCase() as ServiceContext),
    scopes: ({ scopes }) => scopes.map(scope => ({ ...scope, permission: scope.name.replace('.', ':') })),
    addresses: ({ addresses }) => Object.entries(addresses).map(([role, url]) => ({ role, url })),
    widgetAudience: ({ widgetAudience }) => (widgetAudience ? (widgetAudience.toUpperCase() as WidgetAudience) : null),
    lifecycle: ({ lifecycle }) => lifecycle.toUpperCase() as ServiceLifecycle,
  },
}
