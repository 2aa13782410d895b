import { DomainError } from '../../../../platform/errors.ts'
import { requireName } from '../../../../platform/ids.ts'
import { create, remove } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { requireMailAddress, sameAddress } from '../address.ts'

const things = 'Suppressed addresses'

/** Maximum addresses that people may suppress in an organization; those reported by mail servers do not count. */
const mostSuppressions = 100_000

/** The audit entry of a change, which never contains the address. */
const lineOf = (tenantId: string, action: string, subjectId: string) => ({ tenantId, action: `email_suppression.${action}`, subjectId })

export const suppressionResolvers: Resolvers = {
  Query: {
    emailSuppressions: (_, page, { viewer, emailSuppressions }) => emailSuppressions.page('all', activeOrganization(viewer, things), page),
  },
  Mutation: {
    async addEmailSuppression(_, { input }, context) {
      const { viewer, emailSuppressions } = context
      const organizationId = activeOrganization(viewer, things)
      const address = sameAddress(requireMailAddress(input.address, 'address'))
      const reason = requireName(input.reason ?? 'manual', 'reason', 200)
      const { row } = await create(context, {
        of: emailSuppressions,
        once: input,
        tenantId: organizationId,
        async run({ transaction, now }, id) {
          const { inAll, alike } = await emailSuppressions.countOf(organizationId, address, transaction)
          if (alike > 0) throw new DomainError('CONFLICT', 'This address gets no mail already.', { field: 'address' })
          if (inAll >= mostSuppressions)
            throw new DomainError('CONFLICT', `There are ${mostSuppressions} suppressed addresses, which is the limit: remove some first.`, {
              field: 'address',
            })
          return { organizationId, id, address, reason, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        },
        audit: row => lineOf(organizationId, 'added', row.id),
      })
      return row
    },
    removeEmailSuppression: (_, { input: { id } }, context) => {
      const tenantId = activeOrganization(context.viewer, things)
      return remove(context, { of: context.emailSuppressions, id, audit: row => lineOf(tenantId, 'removed', row.id) })
    },
  },
  EmailSuppression: {
    __resolveReference: ({ id }, { emailSuppressions }) => emailSuppressions.byId.load(id),
  },
}
