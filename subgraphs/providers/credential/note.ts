import { step } from '../../store/write.ts'
import type { Job } from '../context.ts'
import type { Noted } from '../engines/third-party/credentials.ts'
import { announceCredential, factsOf } from './announce.ts'

/** Stores the result of a call with a credential. The version stays, because no person changed anything. */
export async function noteUse(context: Job, { id, sealed, status, message }: Noted): Promise<void> {
  const { credentials, events, platformOrganization } = context
  const admins = await platformOrganization.find()
  await step(context, {
    of: credentials,
    hold: id,
    decide(row, { now }) {
      const used = { lastUsedAt: row.lastUsedAt && row.lastUsedAt > now ? row.lastUsedAt : now }
      // The credential has another secret by now or was disabled, so the result says nothing about it.
      const isNews = status !== null && row.secret === sealed && row.status !== 'DISABLED' && row.status !== status
      return { changes: isNews ? { ...used, status, ...(message !== null && { testMessage: message }) } : used }
    },
    facts: ({ before, after }) => factsOf(before, after, context, admins),
    announce: ({ before, after }) => (before.status === after.status ? undefined : announceCredential(events, after)),
  })
}
