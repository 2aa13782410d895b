import type { Resolvers } from '../resolvers.generated.ts'

export const userResolvers: Pick<Resolvers, 'User'> = {
  User: {
    __resolveReference: ({ id }, { users }) => users.byId.load(id),
  },
}
