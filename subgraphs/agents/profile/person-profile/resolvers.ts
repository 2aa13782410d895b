import { DomainError } from '../../../../platform/errors.ts'
import { newId, readId, requireId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { change, create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf, requirePerson } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { CreatePersonProfileInput, ErasePersonProfileInput, Resolvers, UpdatePersonProfileInput } from '../../resolvers.generated.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import { readAuthorizations, readChanges, readProfile, requireMayWriteOf } from './rules.ts'

/** Writes a profile with its evidence; once for each key. */
async function createPersonProfile(context: Context, input: CreatePersonProfileInput): Promise<PersonProfileRow> {
  const { viewer, personProfiles, profileAuthorizations, quotas } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const caller = requirePerson(viewer)
  const subjectId = input.subjectId === null || input.subjectId === undefined ? caller : requireId(input.subjectId, 'subjectId')
  requireMayWriteOf(subjectId, viewer)
  const words = readProfile(input)
  const authorizations = readAuthorizations(input.authorizations)
  if (subjectId !== caller && !(await context.isMember(subjectId, organizationId, viewer)))
    throw new DomainError('BAD_USER_INPUT', 'subjectId is nobody of the active organization: a profile is about one of its members.', { field: 'subjectId' })
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: personProfiles,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await personProfiles.madeBy(createdBy, now, quotas.profilesADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.profilesADay }, 'person profiles that you wrote', 'wait', now)
      const stamps = { createdAt: now, updatedAt: now, createdBy }
      for (const given of authorizations)
        await profileAuthorizations.insert({ profileId: id, id: newId(now), ...given, grantedAt: now, ...stamps }, transaction)
      return { id, organizationId, subjectId, ...words, status: input.status ?? 'DRAFT', ...stamps }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'person-profile.created', subjectId: id }),
  })
  return row
}

const updatePersonProfile = (context: Context, { id, expectedVersion, ...input }: UpdatePersonProfileInput): Promise<PersonProfileRow> =>
  change(context, {
    of: context.personProfiles,
    ...{ id, expectedVersion },
    decide: profile => readChanges(profile, { id, ...input }),
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'person-profile.updated', subjectId: after.id }),
  })

/** Deletes a profile and all that was learned with it, in one transaction. */
function erasePersonProfile(context: Context, { id, expectedVersion }: ErasePersonProfileInput): Promise<PersonProfileRow> {
  const actor = actorOf(context.viewer)
  return remove(context, {
    of: context.personProfiles,
    ...{ id, expectedVersion },
    async decide(profile, { transaction, now }) {
      await context.personProfiles.eraseBelow(profile.id, transaction)
      const line = { organizationId: profile.organizationId, id: newId(now), at: now, kind: 'PROFILE_ERASED', title: 'A person profile was erased' } as const
      await context.workFeed.insert({ ...line, actor, userId: personOf(actor) }, transaction)
    },
    audit: profile => ({ tenantId: profile.organizationId, action: 'person-profile.erased', subjectId: profile.id }),
    facts: ({ id: profileId, organizationId }) => [{ kind: 'profile.erased', body: { profileId, organizationId } }],
  })
}

export const personProfileResolvers: Resolvers = {
  Query: {
    personProfile: (_, { id }, { personProfiles }) => personProfiles.require(id),
    personProfiles: (_, { subjectId, status, ...page }, { viewer, personProfiles }) => {
      activeOrganization(viewer, 'Person profiles')
      return personProfiles.filtered({ subjectId: readId(subjectId, 'subjectId'), status }, page)
    },
  },
  Mutation: {
    createPersonProfile: (_, { input }, context) => createPersonProfile(context, input),
    updatePersonProfile: (_, { input }, context) => updatePersonProfile(context, input),
    erasePersonProfile: (_, { input }, context) => erasePersonProfile(context, input),
  },
  PersonProfile: {
    __resolveReference: ({ id }, { personProfiles }) => personProfiles.byId.load(id),
    subject: ({ subjectId }) => ({ __typename: 'User', id: subjectId }),
    organization: ({ organizationId }) => ({ __typename: 'Organization', id: organizationId }),
    authorizations: ({ id }, _, { profileAuthorizations }) => profileAuthorizations.manyBy('profileId').load(id),
    sources: ({ id }, page, { profileSources }) => profileSources.page('ofProfile', id, page),
    snapshots: ({ id }, page, { styleSnapshots }) => styleSnapshots.page('ofProfile', id, page),
    activeSnapshot: ({ activeSnapshotId }, _, { styleSnapshots }) => styleSnapshots.find(activeSnapshotId),
  },
}
