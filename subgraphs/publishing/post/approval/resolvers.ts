import { personOf } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { decidePost, submitPost } from './decide.ts'

export const approvalResolvers: Resolvers = {
  Mutation: {
    submitPost: (_, { input }, context) => submitPost(context, input),
    decidePost: (_, { input }, context) => decidePost(context, input),
  },
  Post: {
    approvalEvents: (post, _, { aboutPosts }) => aboutPosts.approvalEvents.load(post),
  },
  ApprovalEvent: {
    user: ({ createdBy }) => {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
}
