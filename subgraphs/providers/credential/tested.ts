import { DomainError } from '../../../platform/errors.ts'
import { step } from '../../store/write.ts'
import type { Context } from '../context.ts'
import { withoutSecrets } from '../engines/third-party/credentials.ts'
import type { TestCredentialInput } from '../resolvers.generated.ts'
import type { CredentialRow } from '../stores/credential/credential.ts'
import { factsOf } from './announce.ts'
import { announceOf, lineOf, requireChangeable } from './changes.ts'
import { trialOf } from './trial.ts'

/**
 * Tests a credential at its provider and stores the result, unless it was changed meanwhile.
 * @throws CONFLICT for an inactive one
 */
export async function testCredential(context: Context, { id }: TestCredentialInput): Promise<CredentialRow> {
  const { credentials } = context
  const { row, tenantId } = await requireChangeable(context, id)
  if (row.status === 'DISABLED')
    throw new DomainError('CONFLICT', 'The credential is out of use, and is not called with: put it back into use first.', { field: 'id' })
  const secret = credentials.open(row)
  const trial = await trialOf(context, row, secret)
  const message = withoutSecrets(trial.message, [secret])
  const stepped = await step(context, {
    of: credentials,
    hold: row.id,
    decide(present, { now }) {
      const isSame = present.secret === row.secret && present.baseUrl === row.baseUrl && present.status !== 'DISABLED'
      if (!isSame || trial.status === 'untried') return isSame ? { changes: { testMessage: message } } : null
      return { changes: { testedAt: now, testMessage: message, ...(trial.status !== null && { status: trial.status }) } }
    },
    audit: ({ after }) => lineOf(tenantId, 'credential.tested', after),
    facts: ({ before, after }) => factsOf(before, after, context, tenantId),
    announce: ({ after }) => announceOf(context)(after),
  })
  if (stepped) return stepped.after
  credentials.byId.clear(row.id)
  return credentials.require(row.id)
}
