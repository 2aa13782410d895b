import type { Resolvers } from '../../resolvers.generated.ts'
import { mintHandoff } from './mint.ts'
import { bearerOf } from './rules.ts'

export const handoffResolvers: Resolvers = {
  Mutation: {
    createHandoff: (_, { input }, context) => mintHandoff(context, bearerOf(context.viewer, input.sessionId ?? null), input),
  },
}
