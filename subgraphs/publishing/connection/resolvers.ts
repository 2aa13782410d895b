import { canSee } from '../brand/rules.ts'
import type { Resolvers } from '../resolvers.generated.ts'

export const connectionResolvers: Resolvers = {
  Connection: {
    __resolveReference: async ({ id }, { viewer, connectionById, brandById }) => {
      const connection = await connectionById.load(id)
      const brand = connection && (await brandById.load(connection.brandId))
      return canSee(viewer, brand ?? null) ? connection : null
    },
    inactiveReason: ({ deactivatedReason }) => deactivatedReason,
    author: ({ authorId }) => ({ __typename: 'User', id: authorId }),
  },
}
