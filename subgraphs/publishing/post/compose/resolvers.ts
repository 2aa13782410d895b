import type { Resolvers } from '../../resolvers.generated.ts'
import { problemsOfRow } from '../problems.ts'
import { checkPosts } from './check.ts'
import { composePosts } from './compose.ts'

export const composeResolvers: Resolvers = {
  Query: { postChecks: (_, { input }, context) => checkPosts(context, input) },
  Mutation: { composePosts: (_, { input }, context) => composePosts(context, input) },
  Post: { problems: (post, _, context) => problemsOfRow(context, post) },
}
