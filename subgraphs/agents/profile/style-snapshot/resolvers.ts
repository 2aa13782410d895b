import { DomainError } from '../../../../platform/errors.ts'
import { change } from '../../../store/write.ts'
import { personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { QueryStyleChangesArgs, Resolvers } from '../../resolvers.generated.ts'
import type { StyleSnapshotRow } from '../../stores/style-snapshot.ts'
import { requireBelow } from '../person-profile/rules.ts'
import { changesBetween, type StyleChange } from './changes.ts'
import { takeSnapshot } from './take.ts'

/** A snapshot as the mutation answers it that has taken it. */
interface JustTaken extends StyleSnapshotRow {
  readonly justTaken?: boolean
}

async function styleChanges({ styleSnapshots }: Context, { fromId, toId, personProfileId }: QueryStyleChangesArgs): Promise<readonly StyleChange[]> {
  const [from, to] = await Promise.all([styleSnapshots.require(fromId, 'fromId'), styleSnapshots.require(toId, 'toId')])
  requireBelow('style snapshot', from, personProfileId)
  if (from.profileId === to.profileId) return changesBetween(from, to)
  throw new DomainError('BAD_USER_INPUT', 'toId is a snapshot of another profile: compare two of one profile.', { field: 'toId' })
}

/** Makes a snapshot the active one of its profile. */
async function activateStyleSnapshot(context: Context, id: string): Promise<StyleSnapshotRow> {
  const snapshot = await context.styleSnapshots.require(id)
  await change(context, {
    of: context.personProfiles,
    id: snapshot.profileId,
    decide: () => ({ activeSnapshotId: snapshot.id }),
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'style-snapshot.activated', subjectId: snapshot.id, details: { profileId: after.id } }),
  })
  return snapshot
}

export const styleSnapshotResolvers: Resolvers = {
  Query: {
    styleSnapshot: (_, { id }, { styleSnapshots }) => styleSnapshots.require(id),
    styleChanges: (_, given, context) => styleChanges(context, given),
  },
  Mutation: {
    activateStyleSnapshot: (_, { input }, context) => activateStyleSnapshot(context, input.id),
    async createStyleSnapshot(_, { input }, context): Promise<JustTaken> {
      const { snapshot, isNew } = await takeSnapshot(context, input)
      return { ...snapshot, justTaken: isNew }
    },
  },
  StyleSnapshot: {
    __resolveReference: ({ id }, { styleSnapshots }) => styleSnapshots.byId.load(id),
    profile: ({ profileId }, _, { personProfiles }) => personProfiles.byId.load(profileId),
    active: async ({ id, profileId }, _, { personProfiles }) => (await personProfiles.byId.load(profileId))?.activeSnapshotId === id,
    async sources({ sourceIds }, _, { profileSources }) {
      const found = await Promise.all(sourceIds.map(id => profileSources.byId.load(id)))
      return found.filter(source => source !== null)
    },
    justTaken: (snapshot: JustTaken) => snapshot.justTaken ?? false,
    createdBy: ({ createdBy }) => {
      const id = personOf(createdBy)
      return id ? { __typename: 'User', id } : null
    },
  },
}
