import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { accessRequestResolvers } from './access-request/resolvers.ts'
import { catalogEntryResolvers } from './entry/resolvers.ts'
import { installationResolvers } from './installation/resolvers.ts'
import { resyncInstallations } from './installation/rules.ts'
import { storeHandlers } from './store/handlers.ts'
import { storeAppResolvers } from './store/resolvers.ts'

/** The app catalogue, the store, and what is installed of it. */
export const catalogNouns: Readonly<Record<string, Noun<At>>> = {
  'catalog-entry': { resolvers: catalogEntryResolvers, sweeps: ({ services }) => [services.catalog.sweep] },
  'store-app': { resolvers: storeAppResolvers, handlers: storeHandlers },
  installation: {
    resolvers: installationResolvers,
    resync: ({ services: { events }, job }) => resyncInstallations(events, (owner, since) => job('facts').installations.changedSince(owner, since)),
  },
  'access-request': { resolvers: accessRequestResolvers },
}
