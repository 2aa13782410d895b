import { DomainError } from '../../../../platform/errors.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreateProfileSourceInput, DeleteProfileSourceInput, Resolvers } from '../../resolvers.generated.ts'
import type { ProfileSourceRow } from '../../stores/profile-source.ts'
import { requireBelow } from '../person-profile/rules.ts'
import { most, readSource } from './rules.ts'

/** Adds a source to a profile; once for each key. */
async function createProfileSource(context: Context, input: CreateProfileSourceInput): Promise<ProfileSourceRow> {
  const { viewer, personProfiles, profileSources, clock, quotas } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const { id: profileId } = await personProfiles.require(input.personProfileId, 'personProfileId')
  const { row: given, text } = readSource(input, clock.now())
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: profileSources,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      // A concurrent addition waits here, and then counts this source.
      await personProfiles.requireLocked(profileId, transaction)
      const inAll = await profileSources.countOf(profileId, transaction)
      requireQuota({ inAll, today: 0, todaySince: null }, { inAll: most.sources, aDay: 1 }, 'sources of this profile', 'delete one of them', now)
      const written = await profileSources.madeBy(createdBy, now, quotas.sourcesADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.sourcesADay }, 'sources that you added', 'wait', now)
      if (given.status === 'PROCESSING' && (await profileSources.waitingOf(createdBy, transaction)) >= most.waiting)
        throw new DomainError('RATE_LIMITED', `${most.waiting} addresses that you added are still to be fetched: wait for some of them.`, { retryAfter: 30 })
      if (text !== null) await profileSources.writeText({ profileId, id }, text, transaction)
      return { profileId, id, ...given, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'profile-source.created', subjectId: id, details: { profileId } }),
    announce() {
      if (given.status === 'PROCESSING') context.fetching.soon()
    },
  })
  return row
}

/** Deletes a source and its text. */
async function deleteProfileSource(context: Context, { id, personProfileId }: DeleteProfileSourceInput): Promise<ProfileSourceRow> {
  const { personProfiles, profileSources, viewer } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const { profileId } = await profileSources.require(id)
  requireBelow('profile source', { id, profileId }, personProfileId)
  return remove(context, {
    of: profileSources,
    id,
    before: async ({ transaction }) => void (await personProfiles.requireLocked(profileId, transaction)),
    decide: (source, { transaction }) => profileSources.removeText(source, transaction),
    audit: source => ({ tenantId: organizationId, action: 'profile-source.deleted', subjectId: source.id, details: { profileId } }),
  })
}

export const profileSourceResolvers: Resolvers = {
  Query: {
    profileSource: (_, { id }, { profileSources }) => profileSources.require(id),
  },
  Mutation: {
    createProfileSource: (_, { input }, context) => createProfileSource(context, input),
    deleteProfileSource: (_, { input }, context) => deleteProfileSource(context, input),
  },
  ProfileSource: {
    __resolveReference: ({ id }, { profileSources }) => profileSources.byId.load(id),
    profile: ({ profileId }, _, { personProfiles }) => personProfiles.byId.load(profileId),
    text: ({ id, status }, _, { profileSources }) => (status === 'READY' ? profileSources.texts.load(id) : null),
    capturedBy: ({ createdBy }) => {
      const id = personOf(createdBy)
      return id ? { __typename: 'User', id } : null
    },
    capturedAt: ({ createdAt }) => createdAt,
  },
}
