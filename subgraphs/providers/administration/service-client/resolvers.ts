import { randomBytes } from 'node:crypto'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { requireId, requireName } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { change, create, write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type {
  CreateServiceClientInput,
  IssueServiceTokenInput,
  Resolvers,
  RevokeServiceTokenInput,
  UpdateServiceClientInput,
} from '../../resolvers.generated.ts'
import type { ServiceClientRow } from '../../stores/administration/service-client.ts'
import { most, prefixOf, readAppId, readExpiry, readOperations, writeToken } from './rules.ts'

const things = 'Service clients'

const lineOf = (context: Context, action: string, { id, appId }: Pick<ServiceClientRow, 'id' | 'appId'>, more: object = {}) => ({
  tenantId: activeOrganization(context.viewer, things),
  action,
  subjectId: id,
  details: { appId, ...more },
})

const tooMany = (sentence: string) => new DomainError('CONFLICT', sentence, { reason: 'QUOTA' })

/** Creates a client that lets an app call the gateway; once for each idempotency key. */
async function createServiceClient(context: Context, input: CreateServiceClientInput): Promise<ServiceClientRow> {
  const { viewer, serviceClients, clients } = context
  const appId = readAppId(input.appId)
  const wanted = { appId, name: requireName(input.name, 'name', 100), operations: readOperations(appId, input.operations) }
  const { row } = await create(context, {
    of: serviceClients,
    once: { ...wanted, idempotencyKey: input.idempotencyKey },
    tenantId: activeOrganization(viewer, things),
    async run({ transaction, now }, id) {
      const { inAll, alike } = await serviceClients.countedWith(appId, transaction)
      if (alike > 0) throw new DomainError('CONFLICT', `${appId} has a service client already: change that one.`, { field: 'appId' })
      if (inAll >= most.clients) throw tooMany(`There are ${most.clients} service clients, which is the limit.`)
      return { id, ...wanted, active: true, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: client => lineOf(context, 'service_client.created', client, { operations: client.operations.join(' ') }),
    announce: clients.forget,
  })
  return row
}

const updateServiceClient = (context: Context, input: UpdateServiceClientInput): Promise<ServiceClientRow> =>
  change(context, {
    of: context.serviceClients,
    id: input.id,
    expectedVersion: input.expectedVersion,
    decide: ({ appId }) => ({
      ...(input.name != null && { name: requireName(input.name, 'name', 100) }),
      ...(input.operations != null && { operations: readOperations(appId, input.operations) }),
      ...(input.active != null && { active: input.active }),
    }),
    audit: ({ after }) => lineOf(context, 'service_client.updated', after, { operations: after.operations.join(' '), active: after.active }),
    announce: context.clients.forget,
  })

/** Creates a token; once for each idempotency key. */
async function issueServiceToken(context: Context, input: IssueServiceTokenInput) {
  const { viewer, serviceClients, serviceTokens } = context
  const clientId = requireId(input.serviceClientId, 'serviceClientId')
  const expiresAt = input.expiresAt ?? null
  const secret = writeToken(randomBytes(32))
  let client = null as ServiceClientRow | null
  const { row, repeated } = await create(context, {
    of: serviceTokens,
    once: input,
    tenantId: activeOrganization(viewer, things),
    async run({ transaction, now }, id) {
      readExpiry(expiresAt, now)
      // The lock makes the second of two concurrent creations count the first one's token.
      client = await serviceClients.lock(clientId, transaction)
      if (!client) throw notFound(serviceClients.what, clientId)
      if ((await serviceTokens.standing(clientId, now, transaction)) >= most.standing)
        throw tooMany(`${client.appId} has ${most.standing} valid tokens, which is the limit: revoke one that is no longer used.`)
      await serviceTokens.tidy(clientId, most.tokens - 1, now, transaction)
      return { id, clientId, hash: hashOfSecret(secret), prefix: prefixOf(secret), createdAt: now, createdBy: actorOf(viewer), expiresAt }
    },
    audit: token => lineOf(context, 'service_token.issued', { id: token.id, appId: client!.appId }, { clientId, prefix: token.prefix }),
  })
  return { serviceClient: client ?? (await serviceClients.require(row.clientId)), tokenId: row.id, secret: repeated ? null : secret }
}

/** Revokes a token; an ended one stays as it is. */
async function revokeServiceToken(context: Context, input: RevokeServiceTokenInput): Promise<ServiceClientRow> {
  const { serviceClients, serviceTokens } = context
  const [id, tokenId] = [requireId(input.id, 'id'), requireId(input.tokenId, 'tokenId')]
  const client = await serviceClients.require(id)
  await write(context, {
    async run({ transaction, now }) {
      const token = await serviceTokens.lock(tokenId, transaction)
      if (token?.clientId !== id) throw notFound(serviceTokens.what, tokenId)
      return token.revokedAt ? null : serviceTokens.update(token, { revokedAt: now }, transaction)
    },
    audit: token => lineOf(context, 'service_token.revoked', { id: token.id, appId: client.appId }, { clientId: id, prefix: token.prefix }),
  })
  return client
}

export const serviceClientResolvers: Resolvers = {
  Query: {
    serviceClient: (_, { id }, { serviceClients }) => serviceClients.require(id),
    serviceClients: (_, page, { serviceClients }) => serviceClients.filtered({}, page),
  },
  Mutation: {
    createServiceClient: (_, { input }, context) => createServiceClient(context, input),
    updateServiceClient: (_, { input }, context) => updateServiceClient(context, input),
    issueServiceToken: (_, { input }, context) => issueServiceToken(context, input),
    revokeServiceToken: (_, { input }, context) => revokeServiceToken(context, input),
  },
  ServiceClient: {
    tokens: ({ id }, _, { serviceTokens }) => serviceTokens.manyBy('clientId').load(id),
  },
}
