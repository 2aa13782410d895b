import { randomBytes } from 'node:crypto'
import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireRoom } from '../../../platform/limit.ts'
import { readPage } from '../../../platform/page.ts'
import { readName } from '../organization/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { requireOrganization, requirePerson } from '../viewer/rules.ts'
import { hashKey, prefixOf, readExpiry, readIdempotencyKey, readScopes, requireMayManageKeys, writeKey } from './rules.ts'
import { apiKeyOrder } from './store.ts'

type ApiKeyResolvers = Pick<Resolvers, 'ApiKey'> & {
  Query: Pick<NonNullable<Resolvers['Query']>, 'apiKeys'>
  Mutation: Pick<NonNullable<Resolvers['Mutation']>, 'createApiKey' | 'revokeApiKey'>
}

export const apiKeyResolvers: ApiKeyResolvers = {
  Query: {
    apiKeys: (_, page, { viewer, apiKeys }) => {
      const organizationId = requireOrganization(viewer)
      requireMayManageKeys(viewer)
      return apiKeys.ofOrganization(organizationId, readPage(page, apiKeyOrder))
    },
  },

  ApiKey: {
    createdBy: ({ createdBy }, _, { users }) => (createdBy ? users.byId.load(createdBy) : null),
  },

  Mutation: {
    async createApiKey(_, { input }, { viewer, apiKeys, quotas, now }) {
      const createdBy = requirePerson(viewer)
      const organizationId = requireOrganization(viewer)
      requireMayManageKeys(viewer)
      const at = now()
      const idempotencyKey = readIdempotencyKey(input.idempotencyKey)
      const wanted = {
        organizationId,
        createdBy,
        idempotencyKey,
        name: readName(input.name, 'name', 80),
        scopes: readScopes(input.scopes, viewer),
        expiresAt: input.expiresAt ?? null,
      }
      const repeated = idempotencyKey === null ? null : await apiKeys.findRepeated(organizationId, createdBy, idempotencyKey)
      if (repeated) return { apiKey: repeated, secret: null }
      readExpiry(wanted.expiresAt, at)
      const secret = writeKey(randomBytes(32))
      const most = { inAll: quotas.keysAnOrganization, aDay: quotas.keysADay }
      const created = await apiKeys.create({ ...wanted, hash: hashKey(secret), prefix: prefixOf(secret) }, at, made =>
        requireRoom(made, most, 'API keys of this organization', 'revoke one that nobody uses', at),
      )
      if (created) return { apiKey: created, secret }
      return { apiKey: await apiKeys.findRepeated(organizationId, createdBy, idempotencyKey ?? ''), secret: null }
    },

    async revokeApiKey(_, { input }, { viewer, apiKeys, now }) {
      const by = requirePerson(viewer)
      const organizationId = requireOrganization(viewer)
      requireMayManageKeys(viewer)
      const revoked = await apiKeys.revoke(organizationId, requireId(input.id, 'id'), by, now())
      if (!revoked) throw new Refusal('NOT_FOUND', 'The active organization has no such API key.', { field: 'id' })
      return revoked
    },
  },
}
