import { crash } from '../../../../platform/crash.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { record, writeFacts } from '../../../store/books.ts'
import { inTransaction, write } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import type { SignedRequestRow } from '../../stores/revocation/signed-request.ts'
import { healthFacts } from '../health.ts'
import { waitForCallsMs } from './rules.ts'

/** Interval in ms of the search for deletion requests, and maximum requests in one round. */
const everyMs = 5_000
const atOnce = 20

/**
 * Deletes data that people asked networks to have deleted: the connections of their account as of the request, with
 * profile, places, tokens and figures. Posts belong to the organization and stay. The rows alone say what to do, so a
 * process that dies leaves nothing undone.
 */
export const deletions = (job: () => Job): Sweep => ({
  name: 'deletions of accounts',
  everyMs,
  async run() {
    for (const request of await job().signedRequests.toDo(atOnce))
      await erase(job(), request).catch(error =>
        job().log.error({ err: error, requestId: request.id }, 'deleting an account’s data failed; the next round retries'),
      )
  },
})

async function erase(job: Job, { id, receivedAt, meantUntil }: SignedRequestRow): Promise<void> {
  const { signedRequests, networkAccounts } = job
  const begun = await inTransaction(job, async ({ now, transaction }) => {
    const row = await signedRequests.lock(id, transaction)
    if (row?.status === 'RECEIVED') await signedRequests.begin(row, now, transaction)
    return row
  })
  crash('deletion-begun')
  if (!begun?.accountId) return
  const account = { platform: begun.platform, accountId: begun.accountId, before: meantUntil ?? receivedAt, organizations: begun.organizationIds }
  // A call's result is stored with its connection's id, so running calls are awaited.
  if (job.clock.now().getTime() - receivedAt.getTime() < waitForCallsMs && (await networkAccounts.isBusy(account))) return
  await write(job, {
    async run(unit) {
      const row = await signedRequests.lock(id, unit.transaction)
      if (!row) return null
      const removed = await networkAccounts.remove(account, unit.transaction)
      const brands = await networkAccounts.brandsOf(removed, unit.transaction)
      for (const gone of removed) {
        const brand = brands.get(gone.brandId)
        await record(job, { tenantId: gone.brandId, actor: `network:${row.platform.toLowerCase()}`, action: 'connection.deleted', subjectId: gone.id }, unit)
        if (brand) await writeFacts(job, healthFacts(gone, null, { organizationId: brand.organizationId, publicUrl: job.publicUrl }), unit)
      }
      await signedRequests.complete(row, unit.now, unit.transaction)
      crash('in-deletion')
      return row
    },
  })
}
