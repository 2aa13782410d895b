import { randomBytes, randomUUID } from 'node:crypto'
import { hashOfSecret } from '../../../../platform/cipher.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { change, create, write } from '../../../store/write.ts'
import { actorOf, requirePerson } from '../../../viewer.ts'
import { requireOrganization } from '../../membership/rules.ts'
import { readName } from '../../organization/rules.ts'
import type { OAuthClientType, Resolvers } from '../../resolvers.generated.ts'
import { endSessions } from '../../session/opening.ts'
import type { OAuthClientRow } from '../../stores/credentials/oauth-client.ts'
import { most, readGrantable, readRedirectUris } from './rules.ts'

export const oauthResolvers: Resolvers = {
  Query: {
    oauthClients: (_, page, { viewer, oauthClients }) => oauthClients.page('all', requireOrganization(viewer), page),
    consents: (_, __, { viewer, oauthConsents }) => oauthConsents.manyBy('userId').load(requirePerson(viewer)),
  },

  OAuthClient: {
    type: ({ type }) => type.toUpperCase() as OAuthClientType,
  },

  OAuthConsent: {
    clientName: async ({ clientId }, _, { oauthClients }) => (await oauthClients.manyBy('clientId').load(clientId))[0]!.name,
    grantedAt: ({ createdAt }) => createdAt,
  },

  Mutation: {
    async createOAuthClient(_, { input }, context) {
      const { viewer, oauthClients } = context
      const organizationId = requireOrganization(viewer)
      const type = input.type === 'CONFIDENTIAL' ? ('confidential' as const) : ('public' as const)
      const wanted = {
        name: readName(input.name, 'name', 80),
        type,
        redirectUris: readRedirectUris(input.redirectUris),
        scopes: readGrantable(input.scopes),
        trusted: input.trusted ?? false,
      }
      const secret = type === 'public' ? null : `sgo_${randomBytes(32).toString('base64url')}`
      const { row: client, repeated } = await create(context, {
        of: oauthClients,
        once: { ...wanted, idempotencyKey: input.idempotencyKey },
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          if ((await oauthClients.standingIn(organizationId, transaction)) >= most.clients)
            throw new DomainError('CONFLICT', `There are ${most.clients} clients, which is the limit: disable one that is no longer used.`, { reason: 'QUOTA' })
          const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
          return { organizationId, id, clientId: randomUUID(), ...wanted, secretHash: secret && hashOfSecret(secret), ...stamps }
        },
        audit: audited('oauth_client.created'),
      })
      return { client, secret: repeated ? null : secret }
    },

    async updateOAuthClient(_, { input }, context) {
      requireOrganization(context.viewer)
      const wanted = {
        ...(input.name != null && { name: readName(input.name, 'name', 80) }),
        ...(input.redirectUris != null && { redirectUris: readRedirectUris(input.redirectUris) }),
        ...(input.scopes != null && { scopes: readGrantable(input.scopes) }),
      }
      return change(context, {
        of: context.oauthClients,
        id: input.id,
        async decide(client, { transaction }) {
          if (client.disabledAt) throw new DomainError('CONFLICT', 'The client was disabled, which is for good: make another.', { field: 'id' })
          if (wanted.scopes) await context.oauthClients.narrow(client.clientId, wanted.scopes, transaction)
          return wanted
        },
        audit: ({ after }) => audited('oauth_client.updated')(after),
      })
    },

    async disableOAuthClient(_, { input }, context) {
      requireOrganization(context.viewer)
      return change(context, {
        of: context.oauthClients,
        id: input.id,
        decide: ({ disabledAt }, { now }) => (disabledAt ? {} : { disabledAt: now }),
        // Creating a session locks the client's row, so none is left.
        async wake({ after: { clientId } }, unit) {
          await endSessions(context, { clientId }, unit)
          await context.oauthConsents.removeOfClient(clientId, unit.transaction)
        },
        audit: ({ after }) => audited('oauth_client.disabled')(after),
      })
    },

    async revokeConsent(_, { input }, context) {
      const { viewer, oauthConsents } = context
      const userId = requirePerson(viewer)
      const id = requireId(input.id, 'id')
      return write(context, {
        async run(unit) {
          const consent = await oauthConsents.lock(id, unit.transaction)
          if (!consent) throw notFound(oauthConsents.what, id)
          // Read before the change: afterwards the client is not visible to this person.
          await context.oauthClients.manyBy('clientId').load(consent.clientId)
          await oauthConsents.remove(consent, unit.transaction)
          await endSessions(context, { clientId: consent.clientId, userId }, unit)
          return consent
        },
        audit: ({ clientId }) => ({
          tenantId: viewer.organizationId ?? userId,
          action: 'consent.revoked',
          subjectId: id,
          personId: userId,
          details: { clientId },
        }),
      })
    },
  },
}

const audited = (action: string) => (client: OAuthClientRow) => ({
  tenantId: client.organizationId,
  action,
  subjectId: client.id,
  details: { clientId: client.clientId },
})
