import { randomBytes } from 'node:crypto'
import { DomainError } from '../../../platform/errors.ts'
import { readIdempotency } from '../../../platform/idempotency.ts'
import { requireId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { type AuditLine, findMade, type WriteTransaction, writing } from '../../store/books.ts'
import { notFound, type Rows } from '../../store/store.ts'
import { change, create } from '../../store/write.ts'
import { actorOf, personOf, requireApp, type Viewer } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { readName } from '../organization/rules.ts'
import type { CreateApiKeyInput, Resolvers, RotateApiKeyInput } from '../resolvers.generated.ts'
import type { ApiKeyRow, apiKeys as keyTable } from '../stores/api-key.ts'
import {
  canManage,
  formerOf,
  type KeyManager,
  keptOf,
  readExpiry,
  readGrace,
  readRateLimit,
  readScopes,
  readService,
  requireKeyManager,
  requireMayActAs,
  requireMayGive,
  rotate,
  stateOf,
  writeKey,
} from './rules.ts'

export const apiKeyResolvers: Resolvers = {
  Query: {
    async apiKeyMaker(_, { id }, { viewer, apiKeys }) {
      requireApp(viewer, 'app_payments', 'who made a key')
      return personOf((await apiKeys.makerOf(requireId(id, 'id'), viewer.organizationId)) ?? '')
    },
    apiKeys: (_, { service, state, ...page }, { viewer, apiKeys }) => {
      const { services } = requireKeyManager(viewer)
      const named = readService(service)
      const seen = services === 'all' ? null : services
      const wanted = named === null ? seen : seen === null || seen.includes(named) ? [named] : []
      return apiKeys.filtered({ service: wanted, state }, page)
    },
  },

  ApiKey: {
    createdBy: ({ createdBy }, _, { users }) => users.find(personOf(createdBy)),
    service: async ({ service }, _, { serviceEntries, environment }) =>
      (await serviceEntries.manyBy('environment').load(environment)).find(({ slug }) => slug === service) ?? null,
    serviceAccount: ({ serviceAccountId }, _, { users }) => users.find(serviceAccountId),
    state: (key, _, { clock }) => stateOf(key, clock.now()),
    previousPrefix: (key, _, { clock }) => formerOf(key, clock.now())?.prefix ?? null,
    previousEndsAt: (key, _, { clock }) => formerOf(key, clock.now())?.endsAt ?? null,
  },

  Mutation: {
    createApiKey: (_, { input }, context) => createApiKey(context, input),
    rotateApiKey: (_, { input }, context) => rotateApiKey(context, input),
    async revokeApiKey(_, { input }, context) {
      const { viewer } = context
      const manager = requireKeyManager(viewer)
      return change(context, {
        of: context.apiKeys,
        id: input.id,
        decide(key, { now }) {
          requireManaged(manager, key)
          return key.revokedAt ? {} : { revokedAt: now }
        },
        audit: ({ after }) => lineOf('api_key.revoked', after, viewer),
      })
    },
  },
}

/**
 * Builds the audit entry for a key. It also concerns the account of the person, because a key works after the person's
 * session has ended.
 */
const lineOf = (action: string, { organizationId, id, service }: ApiKeyRow, viewer: Viewer, details: object = {}): AuditLine => ({
  tenantId: organizationId,
  action,
  subjectId: id,
  details: { service, ...details },
  ...(viewer.kind === 'user' && viewer.userId && { personId: viewer.userId }),
})

/** @throws NOT_FOUND for another service's key, as for a missing one */
function requireManaged(manager: KeyManager, key: ApiKeyRow): void {
  if (!canManage(manager, key)) throw notFound('API key', key.id)
}

async function createApiKey(context: Context, input: CreateApiKeyInput) {
  const { viewer, apiKeys, quotas } = context
  const manager = requireKeyManager(viewer)
  const { organizationId } = manager
  const rights = readScopes(input.scopes, readService(input.service))
  requireMayGive(viewer, manager, rights)
  const serviceAccountId = input.serviceAccountId ? requireId(input.serviceAccountId, 'serviceAccountId') : null
  requireMayActAs(manager, serviceAccountId)
  const expiresAt = input.expiresAt ?? null
  const wanted = { name: readName(input.name, 'name', 80), ...rights, expiresAt, rateLimit: readRateLimit(input.rateLimit), serviceAccountId }
  const secret = writeKey(randomBytes(32))
  const { row: apiKey, repeated } = await create(context, {
    of: apiKeys,
    once: { ...wanted, idempotencyKey: input.idempotencyKey },
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      readExpiry(expiresAt, now)
      if (serviceAccountId && !(await apiKeys.hasAccount(organizationId, serviceAccountId, transaction)))
        throw new DomainError('NOT_FOUND', `The active organization has no service account ${serviceAccountId}.`, { field: 'serviceAccountId' })
      const most = { inAll: quotas.keysAnOrganization, aDay: quotas.keysADay }
      requireQuota(await apiKeys.madeFor(organizationId, now, transaction), most, 'API keys of this organization', 'revoke one that nobody uses', now)
      return { organizationId, id, ...wanted, ...keptOf(secret), createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: key => lineOf('api_key.created', key, viewer),
  })
  return { apiKey, secret: repeated ? null : secret }
}

/** Rotates a key's secret, once for each idempotency key. */
async function rotateApiKey(context: Context, { id, idempotencyKey, ...input }: RotateApiKeyInput) {
  const { viewer, apiKeys } = context
  const manager = requireKeyManager(viewer)
  const graceSeconds = readGrace(input.graceSeconds)
  const once = { id, graceSeconds, idempotencyKey }
  const idempotency = readIdempotency(once)
  const secret = writeKey(randomBytes(32))
  let repeated = false
  const apiKey = await change(context, {
    of: apiKeys,
    id,
    async decide(key, unit) {
      requireManaged(manager, key)
      requireMayGive(viewer, manager, key)
      requireMayActAs(manager, key.serviceAccountId)
      if (idempotency) {
        const claim = { tenantId: manager.organizationId, id, ...idempotency }
        repeated = (await findMade(context[writing], rotations(apiKeys), claim, unit)) !== null
      }
      return repeated ? {} : rotate(key, keptOf(secret), graceSeconds, unit.now)
    },
    audit: ({ after }) => lineOf('api_key.rotated', after, viewer, { graceSeconds }),
  })
  return { apiKey, secret: repeated ? null : secret }
}

/** Repetitions of a rotation: its idempotency key stands for a secret, not for an API key. */
const rotations = (apiKeys: Pick<Context['apiKeys'], 'lock'>) =>
  ({ what: 'rotation', lock: (id: string, transaction: WriteTransaction['transaction']) => apiKeys.lock(id, transaction) }) as Rows<
    typeof keyTable,
    never,
    never
  >
