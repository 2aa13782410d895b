import { randomBytes } from 'node:crypto'
import { requireQuota } from '../../../platform/limit.ts'
import { change, create } from '../../store/write.ts'
import { actorOf, personOf, requirePerson, type Viewer } from '../../viewer.ts'
import { requireOrganization } from '../membership/rules.ts'
import { readName } from '../organization/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import type { ApiKeyRow } from '../stores/api-key.ts'
import { hashKey, prefixOf, readExpiry, readScopes, requireMayManageKeys, writeKey } from './rules.ts'

export const apiKeyResolvers: Resolvers = {
  Query: {
    apiKeys: (_, page, { viewer, apiKeys }) => {
      const organizationId = requireOrganization(viewer)
      requireMayManageKeys(viewer)
      return apiKeys.page('ofOrganization', organizationId, page)
    },
  },

  ApiKey: {
    createdBy: ({ createdBy }, _, { users }) => users.find(personOf(createdBy)),
  },

  Mutation: {
    async createApiKey(_, { input }, context) {
      const { viewer, apiKeys, quotas } = context
      const organizationId = requireKeyManager(viewer)
      const wanted = { name: readName(input.name, 'name', 80), scopes: readScopes(input.scopes, viewer), expiresAt: input.expiresAt ?? null }
      const secret = writeKey(randomBytes(32))
      const { row: apiKey, repeated } = await create(context, {
        of: apiKeys,
        once: { ...wanted, idempotencyKey: input.idempotencyKey },
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          readExpiry(wanted.expiresAt, now)
          const most = { inAll: quotas.keysAnOrganization, aDay: quotas.keysADay }
          requireQuota(await apiKeys.madeFor(organizationId, now, transaction), most, 'API keys of this organization', 'revoke one that nobody uses', now)
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          return { organizationId, id, ...wanted, hash: hashKey(secret), prefix: prefixOf(secret), ...stamps }
        },
        audit: audited('api_key.created'),
      })
      return { apiKey, secret: repeated ? null : secret }
    },

    async revokeApiKey(_, { input }, context) {
      requireKeyManager(context.viewer)
      return change(context, {
        of: context.apiKeys,
        id: input.id,
        decide: ({ revokedAt }, { now }) => (revokedAt ? {} : { revokedAt: now }),
        audit: ({ after }) => audited('api_key.revoked')(after),
      })
    },
  },
}

const audited = (action: string) => (key: ApiKeyRow) => ({ tenantId: key.organizationId, action, subjectId: key.id })

/** The organization whose keys the viewer may make and revoke. @throws FORBIDDEN */
function requireKeyManager(viewer: Viewer): string {
  requirePerson(viewer)
  const organizationId = requireOrganization(viewer)
  requireMayManageKeys(viewer)
  return organizationId
}
