import type { Resolvers } from '../../resolvers.generated.ts'
import { changePost } from '../change.ts'
import { deletePost } from '../delete.ts'
import { each } from './bulk.ts'

export const bulkResolvers: Resolvers = {
  Mutation: {
    reschedulePosts: (_, { input: { items } }, context) => each(context, items, item => changePost(context, item)),
    deletePosts: (_, { input: { items } }, context) => each(context, items, item => deletePost(context, item)),
  },
}
