import { DomainError } from '../../../../platform/errors.ts'
import { isPerson } from '../../../viewer.ts'
import type { Resolvers } from '../../resolvers.generated.ts'
import { shownOf } from '../../stores/account/recovery-email.ts'

const statusToGraph = { pending: 'PENDING', verified: 'VERIFIED' } as const

export const accountResolvers: Resolvers = {
  User: {
    async recoveryEmail({ id }, _, { viewer, recoveryEmails }) {
      if (!isPerson(viewer) || viewer.userId !== id) throw new DomainError('FORBIDDEN', 'A recovery address is shown to its person alone.')
      const { email, status, verifiedAt, pendingEmail } = shownOf(await recoveryEmails.ofPerson(id))
      return email === null || status === 'none' ? null : { email, status: statusToGraph[status], verifiedAt, pendingEmail }
    },
  },
}
