import { record, type WriteTransaction, writeFacts } from '../../store/books.ts'
import type { Job } from '../context.ts'
import { factsOf } from '../engines/spend/announce.ts'

/** Removes the limits of a person who is no longer a member. */
export async function forgetMember(
  job: Job,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
  unit: WriteTransaction,
): Promise<void> {
  for (const limit of await job.spendLimits.removeOfUser(organizationId, userId, unit.transaction)) {
    const { id, level, scopeType, scopeValue, period } = limit
    const details = { level, scopeType, scopeValue, period, why: 'membership.removed' }
    await record(job, { tenantId: organizationId, action: 'spend_limit.deleted', subjectId: id, details }, unit)
    await writeFacts(job, factsOf(limit, null, job.publicUrl, unit.now), unit)
  }
}
