import { record, writeFacts } from '../store/books.ts'
import type { Receives } from '../store/facts.ts'
import type { Job } from './context.ts'
import { provideConnectors } from './engines/connect/provide.ts'
import { attentionFacts } from './engines/task/task.ts'
import { beginWaiting } from './workflow/event.ts'

/** What agents do with the facts of others. */
export const received: Receives<'agents', Job> = {
  // It sends no mail yet.
  'email.outcome': async () => {},
  // An organization begins with the connectors that each has.
  'organization.created': ({ body: { organizationId } }, job, unit) => provideConnectors(job, organizationId, unit),

  // People who have left cannot see how their profiles are used, so the profiles are disabled; their tasks are nobody's.
  async 'membership.removed'({ body: { organizationId, userId } }, job, unit) {
    const { transaction, now } = unit
    for (const id of await job.personProfiles.archiveOf(organizationId, userId, now, transaction))
      await record(job, { tenantId: organizationId, action: 'person-profile.archived', subjectId: id, details: { why: 'membership.removed' } }, unit)
    for (const task of await job.tasks.unassign(organizationId, userId, now, transaction)) {
      await record(job, { tenantId: organizationId, action: 'task.updated', subjectId: task.id, details: { why: 'membership.removed' } }, unit)
      await writeFacts(job, attentionFacts(job.publicUrl, { ...task, assigneeId: userId }, task, now), unit)
    }
  },

  'post.published': ({ body }, job, unit) => beginWaiting(job, 'post.published', body, unit),
  'post.failed': ({ body }, job, unit) => beginWaiting(job, 'post.failed', body, unit),
  'order.paid': ({ body }, job, unit) => beginWaiting(job, 'order.paid', body, unit),
  'task.created': ({ body }, job, unit) => beginWaiting(job, 'task.created', body, unit),
  'run.failed': ({ body }, job, unit) => beginWaiting(job, 'run.failed', body, unit),
  // It works alike whether or not it is installed, and whatever is paid for: the launcher decides what is shown.
  'app.installed': async () => {},
  'app.uninstalled': async () => {},
  'subscription.changed': async () => {},
}
