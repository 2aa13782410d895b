import type { Resolvers } from '../../resolvers.generated.ts'
import { statusOfThread } from './rules.ts'
import { createThread, ofPost, reorderThread, threadOf } from './write.ts'

export const threadResolvers: Resolvers = {
  Query: {
    postThread: (_, { id }, context) => threadOf(context, id),
    postThreads: async (_, { brandId, ...page }, { brands, threads }) => threads.page('all', (await brands.require(brandId, 'brandId')).id, page),
  },
  Mutation: {
    createPostThread: (_, { input }, context) => createThread(context, input),
    reorderPostThread: (_, { input }, context) => reorderThread(context, input),
  },
  Post: { thread: async (post, _, { threads }) => (await threads.byId.load(post.threadId)) ?? ofPost(post) },
  PostThread: {
    posts: (thread, _, { threads }) => threads.postsOf.load(thread),
    status: async (thread, _, { threads }) => statusOfThread(await threads.postsOf.load(thread)),
  },
}
