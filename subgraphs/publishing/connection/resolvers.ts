import { DomainError } from '../../../platform/errors.ts'
import { readId } from '../../../platform/ids.ts'
import { activeOrganization, isService } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { eventsOfBrand } from '../news/announce.ts'
import { registration } from '../registration.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { disconnect, selectTargets } from './change.ts'
import { connectionHealthTopic } from './health.ts'
import { check, renewNow } from './renew.ts'

export const connectionResolvers: Resolvers = {
  Query: {
    connection: (_, { id }, { connections }) => connections.require(id),
    connections: async (_, { brandId, platform, health, orphaned, ...page }, { brands, connections, viewer }) => {
      activeOrganization(viewer, 'Connections')
      const brand = brandId == null ? null : await brands.require(brandId, 'brandId')
      return connections.filtered({ brandId: brand?.id, platform, health, orphaned }, page)
    },
  },

  Mutation: {
    selectConnectionTargets: (_, { input }, context) => selectTargets(context, input),
    checkConnection: (_, { input: { id } }, context) => check(context, id),
    disconnectConnection: (_, { input }, context) => disconnect(context, input),
    renewConnection: async (_, { input: { id } }, context) => {
      const { connections, viewer } = context
      // Uses the application's own token: a shared one would not identify the caller.
      if (!isService(viewer) || viewer.appId !== registration.appId)
        throw new DomainError('FORBIDDEN', 'Only publishing itself renews a connection; people check it with checkConnection.')
      activeOrganization(viewer, 'Connections')
      const row = await connections.require(id)
      const refreshed = await renewNow(context, row)
      connections.byId.clear(row.id)
      const { platform, tokenExpiresAt } = await connections.require(row.id)
      return { connectionId: row.id, platform, refreshed, accessExpiresAt: tokenExpiresAt }
    },
  },

  Subscription: {
    connectionHealthChanged: {
      subscribe: async (_, { brandId }, { brands, events, viewer }) => {
        const organizationId = activeOrganization(viewer, 'Connections')
        if (brandId != null) await brands.require(brandId, 'brandId')
        const wanted = readId(brandId, 'brandId')
        return eventsOfBrand(events.listen([connectionHealthTopic(organizationId)]), wanted, event =>
          wanted === null || event.brandId === wanted ? { connectionId: event.connectionId! } : undefined,
        )
      },
      // Read for each event, with the viewer's present right to the brand.
      resolve: ({ connectionId }: { connectionId: string }, _: unknown, { connections }: Context) => connections.byId.load(connectionId),
    },
  },

  Connection: {
    __resolveReference: ({ id }, { connections }) => connections.byId.load(id),
    accessExpiresAt: ({ tokenExpiresAt }) => tokenExpiresAt,
    inactiveReason: ({ deactivatedReason }) => deactivatedReason,
    author: ({ authorId }) => ({ __typename: 'User', id: authorId }),
  },
}
