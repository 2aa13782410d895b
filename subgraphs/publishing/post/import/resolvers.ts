import type { Resolvers } from '../../resolvers.generated.ts'
import { importPosts } from './import.ts'

export const importResolvers: Resolvers = {
  Mutation: { importPosts: (_, { input }, context) => importPosts(context, input) },
}
