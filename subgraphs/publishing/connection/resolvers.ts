import type { Resolvers } from '../resolvers.generated.ts'

export const connectionResolvers: Resolvers = {
  Connection: {
    __resolveReference: ({ id }, { connections }) => connections.byId.load(id),
    inactiveReason: ({ deactivatedReason }) => deactivatedReason,
    author: ({ authorId }) => ({ __typename: 'User', id: authorId }),
  },
}
