import type { Resolvers } from '../../resolvers.generated.ts'
import { bookDemo, cancelDemo } from './book.ts'

export const demoResolvers: Resolvers = {
  Mutation: {
    bookDemo: (_, { input }, context) => bookDemo(context, input),
    cancelDemo: (_, { input }, context) => cancelDemo(context, input.code),
  },
}
