import { requireId } from '../../../../platform/ids.ts'
import { requireQuota } from '../../../../platform/limit.ts'
import { notFound } from '../../../store/store.ts'
import { create, step } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { holds } from '../../engines/profile/use.ts'
import type { AddProfileAuthorizationInput, Resolvers, RevokeProfileAuthorizationInput } from '../../resolvers.generated.ts'
import type { PersonProfileRow } from '../../stores/person-profile.ts'
import { most, readAuthorizations, requireBelow } from '../person-profile/rules.ts'

/** Adds evidence to a profile; once for each key. */
async function addProfileAuthorization(
  context: Context,
  { personProfileId, idempotencyKey, ...given }: AddProfileAuthorizationInput,
): Promise<PersonProfileRow> {
  const { viewer, personProfiles, profileAuthorizations } = context
  const organizationId = activeOrganization(viewer, 'Person profiles')
  const { id: profileId } = await personProfiles.require(personProfileId, 'personProfileId')
  const [read] = readAuthorizations([given])
  await create(context, {
    of: profileAuthorizations,
    once: { personProfileId, idempotencyKey, ...given } as AddProfileAuthorizationInput,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const profile = await personProfiles.requireLocked(profileId, transaction)
      const inAll = (await profileAuthorizations.ofProfile(profileId, transaction)).length
      requireQuota(
        { inAll, today: 0, todaySince: null },
        { inAll: most.authorizations, aDay: 1 },
        'authorizations of this profile',
        'make another profile',
        now,
      )
      await personProfiles.update(profile, { version: profile.version + 1, updatedAt: now }, transaction)
      return { profileId, id, ...read!, grantedAt: now, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'profile-authorization.created', subjectId: id, details: { profileId } }),
  })
  return personProfiles.require(profileId)
}

/** Withdraws an authorization; products are told when none holds any more. */
async function revokeProfileAuthorization(context: Context, input: RevokeProfileAuthorizationInput): Promise<PersonProfileRow> {
  const { personProfiles, profileAuthorizations } = context
  const { id, profileId } = await profileAuthorizations.require(input.id)
  requireBelow('authorization', { id, profileId }, input.personProfileId)
  const stepped = await step(context, {
    of: personProfiles,
    hold: profileId,
    async decide(_, { now, transaction }) {
      const present = await profileAuthorizations.ofProfile(profileId, transaction)
      const revoked = present.find(each => each.id === id)
      if (!revoked) throw notFound('authorization', id)
      if (revoked.revokedAt !== null) return null
      const isLast =
        holds(present, now) &&
        !holds(
          present.filter(each => each.id !== id),
          now,
        )
      return {
        changes: {},
        isNews: true,
        along: async () =>
          (await profileAuthorizations.update(revoked, { revokedAt: now, updatedAt: now, version: revoked.version + 1 }, transaction)) && isLast,
      }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'profile-authorization.revoked', subjectId: id, details: { profileId } }),
    facts: ({ after: { organizationId }, along: isLast }) => (isLast ? [{ kind: 'profile.withdrawn' as const, body: { profileId, organizationId } }] : []),
  })
  return stepped?.after ?? personProfiles.require(requireId(profileId, 'id'))
}

export const profileAuthorizationResolvers: Resolvers = {
  Mutation: {
    addProfileAuthorization: (_, { input }, context) => addProfileAuthorization(context, input),
    revokeProfileAuthorization: (_, { input }, context) => revokeProfileAuthorization(context, input),
  },
}
