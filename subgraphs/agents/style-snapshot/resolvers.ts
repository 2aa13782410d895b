import { personOf } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import type { StyleSnapshotRow } from '../stores/style-snapshot.ts'
import { takeSnapshot } from './take.ts'

/** A snapshot as the mutation answers it that has taken it. */
interface JustTaken extends StyleSnapshotRow {
  readonly justTaken?: boolean
}

export const styleSnapshotResolvers: Resolvers = {
  Query: {
    styleSnapshot: (_, { id }, { styleSnapshots }) => styleSnapshots.require(id),
  },
  Mutation: {
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
