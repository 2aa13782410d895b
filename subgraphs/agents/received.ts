import { record } from '../store/books.ts'
import type { Receives } from '../store/facts.ts'
import type { Job } from './context.ts'

/** What agents do with the facts of others. */
export const received: Receives<'agents', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // An organization begins without anything of agents.
  'organization.created': async () => {},

  // People who have left cannot see how their profiles are used, so the profiles are disabled.
  async 'membership.removed'({ body: { organizationId, userId } }, job, unit) {
    const { transaction, now } = unit
    for (const id of await job.personProfiles.archiveOf(organizationId, userId, now, transaction))
      await record(job, { tenantId: organizationId, action: 'person-profile.archived', subjectId: id, details: { why: 'membership.removed' } }, unit)
  },

  // No workflow waits for these facts yet.
  'post.published': async () => {},
  'post.failed': async () => {},
  'order.paid': async () => {},
  'task.created': async () => {},
  'run.failed': async () => {},
  // It works alike whether or not it is installed, and whatever is paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
