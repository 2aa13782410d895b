import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import { requirePerson } from '../../viewer.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { claimsOf, expiryOf } from './rules.ts'

export const sessionResolvers: Resolvers = {
  Mutation: {
    async switchOrganization(_, { input }, context) {
      const { viewer, memberships, sessions, sign } = context
      const userId = requirePerson(viewer)
      const organizationId = requireId(input.organizationId, 'organizationId')
      const claims = await inTransaction(context, async ({ transaction, now }) => {
        const membership = await memberships.ofPerson(organizationId, userId, transaction)
        if (!membership) throw new Refusal('NOT_FOUND', 'You are not a member of such an organization.', { field: 'organizationId' })
        const session = viewer.sessionId && { sessionId: viewer.sessionId, userId }
        if (!session || !(await sessions.move(session, organizationId, now, transaction)))
          throw new Refusal('UNAUTHENTICATED', 'The session has ended: sign in again.')
        await memberships.update(membership, { lastUsedAt: now }, transaction)
        return claimsOf(session, membership, now)
      })
      return { accessToken: await sign(claims), expiresAt: expiryOf(claims) }
    },
  },
}
