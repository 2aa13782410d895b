import type { Resolvers } from '../resolvers.generated.ts'

export const userResolvers: Resolvers = {
  User: {
    __resolveReference: ({ id }, { users }) => users.byId.load(id),
  },
}
