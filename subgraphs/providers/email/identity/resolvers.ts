import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import { notFound } from '../../../store/store.ts'
import { change, create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateSenderIdentityInput, Resolvers, UpdateSenderIdentityInput } from '../../resolvers.generated.ts'
import type { SenderIdentityRow } from '../../stores/email/identity.ts'
import { requireMailChanger } from '../domain/rules.ts'
import { addressOf, mostIdentities, readDisplayName, readReplyTo, requireLocalPart } from './rules.ts'

const things = 'Sender identities'

const lineOf = (tenantId: string, action: string, { id, domainId, level, isDefault }: SenderIdentityRow) => ({
  tenantId,
  action: `sender_identity.${action}`,
  subjectId: id,
  details: { domainId, level, isDefault },
})

/** Creates an identity; once for each idempotency key. */
async function createSenderIdentity(context: Context, input: CreateSenderIdentityInput): Promise<SenderIdentityRow> {
  const { viewer, senderDomains, senderIdentities } = context
  const tenantId = activeOrganization(viewer, things)
  const domainId = requireId(input.domainId, 'domainId')
  const domain = await senderDomains.require(domainId, 'domainId')
  if (domain.level === 'PLATFORM') requireMailChanger(viewer)
  const said = {
    localPart: requireLocalPart(input.localPart, domain),
    displayName: readDisplayName(input.displayName),
    replyTo: readReplyTo(input.replyTo),
    isDefault: input.isDefault ?? false,
  }
  const { level, organizationId } = domain
  const { row } = await create(context, {
    of: senderIdentities,
    once: input,
    tenantId,
    async run({ transaction, now }, id) {
      const { inAll, alike } = await senderIdentities.countOf({ organizationId, domainId, localPart: said.localPart }, transaction)
      if (alike > 0) throw new DomainError('CONFLICT', `There is an identity ${addressOf(said, domain)} already: change that one.`, { field: 'localPart' })
      if (inAll >= mostIdentities)
        throw new DomainError('CONFLICT', `There are ${mostIdentities} sender identities, which is the limit: remove one first.`, { field: 'localPart' })
      // A concurrent removal of the domain has finished or waits.
      if (!(await senderDomains.lock(domainId, transaction))) throw notFound('sender domain', domainId)
      if (said.isDefault) await senderIdentities.onlyDefault({ organizationId, id }, now, transaction)
      return { id, level, organizationId, domainId, ...said, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: row => lineOf(tenantId, 'created', row),
  })
  return row
}

/**
 * Checks that a viewer may change an identity; the platform's are visible to others, so the error says that changing is
 * forbidden.
 */
async function requireChangeable({ viewer, senderIdentities }: Context, id: string): Promise<SenderIdentityRow> {
  const row = await senderIdentities.require(id)
  if (row.level === 'PLATFORM') requireMailChanger(viewer)
  return row
}

async function updateSenderIdentity(context: Context, input: UpdateSenderIdentityInput): Promise<SenderIdentityRow> {
  const { viewer, senderIdentities } = context
  const tenantId = activeOrganization(viewer, things)
  await requireChangeable(context, input.id)
  return change(context, {
    of: senderIdentities,
    id: input.id,
    expectedVersion: input.expectedVersion,
    // Locks the default first, as the mutation that changes the default does.
    async before({ transaction, now }) {
      const row = await senderIdentities.byId.load(requireId(input.id, 'id'))
      if (input.isDefault && row) await senderIdentities.onlyDefault(row, now, transaction)
    },
    decide: () => ({
      ...(input.displayName !== undefined && { displayName: readDisplayName(input.displayName) }),
      ...(input.replyTo !== undefined && { replyTo: readReplyTo(input.replyTo) }),
      ...(typeof input.isDefault === 'boolean' && { isDefault: input.isDefault }),
    }),
    audit: ({ after }) => lineOf(tenantId, 'updated', after),
  })
}

export const identityResolvers: Resolvers = {
  Query: {
    senderIdentities: (_, __, { viewer, senderIdentities }) => senderIdentities.seenBy(activeOrganization(viewer, things)),
  },
  Mutation: {
    createSenderIdentity: (_, { input }, context) => createSenderIdentity(context, input),
    updateSenderIdentity: (_, { input }, context) => updateSenderIdentity(context, input),
    async deleteSenderIdentity(_, { input: { id, expectedVersion } }, context) {
      const tenantId = activeOrganization(context.viewer, things)
      await requireChangeable(context, id)
      return remove(context, { of: context.senderIdentities, id, expectedVersion, audit: row => lineOf(tenantId, 'deleted', row) })
    },
  },
  SenderIdentity: {
    __resolveReference: ({ id }, { senderIdentities }) => senderIdentities.byId.load(id),
    domain: ({ domainId }, _, { senderDomains }) => senderDomains.byId.load(domainId),
    address: async (row, _, { senderDomains }) => addressOf(row, (await senderDomains.byId.load(row.domainId))!),
  },
}
