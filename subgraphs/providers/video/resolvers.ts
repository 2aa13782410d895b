import type { Resolvers } from '../resolvers.generated.ts'
import { quotaOf, setQuota } from './quota.ts'

export const videoResolvers: Resolvers = {
  Query: { videoQuota: (_, __, context) => quotaOf(context) },
  Mutation: { setVideoQuota: (_, { input }, context) => setQuota(context, input) },
}
