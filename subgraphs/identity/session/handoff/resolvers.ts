import { requireApp } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { mintHandoff } from './mint.ts'
import { findHandoff } from './read.ts'
import { bearerOf } from './rules.ts'

export const handoffResolvers: Resolvers = {
  Query: {
    async handoff(_, { code }, context) {
      requireApp(context.viewer, 'app_launcher', 'where a handoff leads')
      return findHandoff(context, code)
    },
  },
  Mutation: {
    createHandoff: (_, { input }, context) => mintHandoff(context, bearerOf(context.viewer, input.sessionId ?? null), input),
  },
}
