import { requireId } from '../../../platform/ids.ts'
import { activeOrganization } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { mostAttempts } from '../stores/call.ts'
import { readWord } from './rules.ts'

export const callResolvers: Resolvers = {
  Query: {
    providerCall: (_, { id }, { callRecords }) => callRecords.require(id),
    providerCalls(_, { family, appId, userId, model, status, since, until, ...page }, { viewer, callRecords }) {
      activeOrganization(viewer, 'Calls')
      const filter = {
        family,
        appId: readWord(appId, 'appId'),
        userId: userId == null ? null : requireId(userId, 'userId'),
        model: readWord(model, 'model'),
        status,
        createdAt: { since, until },
      }
      return callRecords.filtered(filter, page)
    },
  },
  ProviderCall: {
    attempts: ({ attempts }) =>
      attempts.slice(0, mostAttempts).map(({ costMicros, ...attempt }) => ({ ...attempt, costMicros: costMicros == null ? null : BigInt(costMicros) })),
    user: ({ userId }) => (userId === null ? null : { id: userId }),
    organization: ({ organizationId }) => ({ id: organizationId }),
  },
}
