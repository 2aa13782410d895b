import { write } from '../../../store/write.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { requireFewTurns, turnsCounted } from './rules.ts'

export const signingKeyResolvers: Resolvers = {
  Query: {
    signingKeys: (_, _arguments, { signingKeys, clock }) => signingKeys.published(clock.now()),
  },
  Mutation: {
    async rotateSigningKey(_, { input }, context) {
      const distrust = input.distrust ?? false
      const tenantId = activeOrganization(context.viewer, 'Signing keys')
      const key = await context.newSigningKey(context.clock.now())
      return write(context, {
        async run(unit) {
          const turns = await context.signingKeys.hold(new Date(unit.now.getTime() - turnsCounted), unit.transaction)
          if (!distrust) requireFewTurns(turns)
          return context.signingKeys.turn(key, distrust, unit)
        },
        audit: ({ kid }) => ({ tenantId, action: 'signing_key.rotated', subjectId: kid, details: { distrust } }),
      })
    },
  },
}
