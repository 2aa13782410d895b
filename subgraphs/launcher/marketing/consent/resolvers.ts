import type { Resolvers } from '../../resolvers.generated.ts'
import { readConsent, recordConsent } from './record.ts'

export const consentResolvers: Resolvers = {
  Query: {
    consentDecision: (_, { subjectId }, context) => readConsent(context, subjectId),
  },
  Mutation: {
    recordConsent: (_, { input }, context) => recordConsent(context, input),
  },
}
