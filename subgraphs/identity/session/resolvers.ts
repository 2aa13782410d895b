import { Refusal } from '../../../platform/errors.ts'
import { requireId } from '../../../platform/ids.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import { requirePerson } from '../viewer/rules.ts'
import { claimsOf, expiryOf } from './rules.ts'

export const sessionResolvers: { Mutation: Pick<NonNullable<Resolvers['Mutation']>, 'switchOrganization'> } = {
  Mutation: {
    async switchOrganization(_, { input }, { viewer, sessions, now, sign }) {
      const userId = requirePerson(viewer)
      const organizationId = requireId(input.organizationId, 'organizationId')
      const session = { sessionId: viewer.sessionId ?? '', userId }
      const at = now()
      const switched = await sessions.switchTo(session, organizationId, at)
      if (switched === 'no membership') throw new Refusal('NOT_FOUND', 'You are not a member of such an organization.', { field: 'organizationId' })
      if (switched === 'no session') throw new Refusal('UNAUTHENTICATED', 'The session has ended: sign in again.')
      const claims = claimsOf(session, switched, at)
      return { accessToken: await sign(claims), expiresAt: expiryOf(claims) }
    },
  },
}
