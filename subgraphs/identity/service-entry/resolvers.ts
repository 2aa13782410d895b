import type { Context } from '../context.ts'
import type {
  MobilePlatform,
  Resolvers,
  ServiceCapability,
  ServiceContext,
  ServiceEnvironment,
  ServiceKind,
  ServiceLifecycle,
  WidgetAudience,
} from '../resolvers.generated.ts'
import { maintenanceOf, setMaintenance } from './maintenance.ts'
import { addressesOf } from './rules.ts'

/** The registry of this environment, by slug: a few dozen entries, read once for an operation. */
const registry = ({ serviceEntries, environment }: Context) => serviceEntries.manyBy('environment').load(environment)

const upper = <Name extends string>(name: string): Name => name.toUpperCase() as Name

export const serviceEntryResolvers: Resolvers = {
  Query: {
    services: (_, _arguments, context) => registry(context),
    service: async (_, { slug }, context) => (await registry(context)).find(entry => entry.slug === slug) ?? null,
  },

  Mutation: {
    setServiceMaintenance: (_, { input }, context) => setMaintenance(context, input),
  },

  ServiceEntry: {
    __resolveReference: async ({ id }, context) => (await registry(context)).find(entry => entry.id === id) ?? null,
    contexts: ({ contexts }) => contexts.map(upper<ServiceContext>),
    scopes: ({ scopes }) => scopes.map(scope => ({ ...scope, permission: scope.name.replace('.', ':') })),
    environment: ({ environment }) => upper<ServiceEnvironment>(environment),
    kind: ({ kind }) => upper<ServiceKind>(kind),
    capabilities: ({ capabilities }) => capabilities.map(upper<ServiceCapability>),
    mobileApps: ({ mobileApps }) =>
      mobileApps.map(app => ({ ...app, platform: upper<MobilePlatform>(app.platform), certificateFingerprints: [...app.certificateFingerprints] })),
    addresses: async (entry, _, { production }) =>
      addressesOf(entry, await production(entry.slug)).map(address => ({ ...address, environment: upper<ServiceEnvironment>(address.environment) })),
    widgetAudience: ({ widgetAudience }) => (widgetAudience ? upper<WidgetAudience>(widgetAudience) : null),
    maintenance: (entry, _, { clock }) => maintenanceOf(entry, clock.now()),
    lifecycle: ({ lifecycle }) => upper<ServiceLifecycle>(lifecycle),
  },
}
