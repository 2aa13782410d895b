import type { Logger } from 'pino'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../../platform/jobs/queue.ts'
import type { RetentionRule } from '../../../platform/jobs/retention.ts'
import { createDial } from '../../../platform/smtp/dial.ts'
import type { Handlers } from '../../http/handlers.ts'
import type { Foundation } from '../../subgraph.ts'
import type { Job, Mailing } from '../context.ts'
import type { EmailSettings } from '../registration.ts'
import { agingOfClaims } from '../stores/email/domain.ts'
import { lookSweep } from './domain/look.ts'
import { createLookUp } from './domain/lookup.ts'
import { eventsHandler } from './event/events.ts'
import { createDeliver } from './message/deliver.ts'
import { emailQueue, emailQueueName, emailSweep } from './message/queue.ts'
import { createServers } from './message/servers.ts'

/** Mail functions of one process. */
export interface OpenEmail {
  readonly mailing: Mailing
  readonly queue: JobQueue
  readonly sweeps: readonly Sweep[]
  readonly retentionRules: readonly RetentionRule[]
  readonly handlers: Handlers
  /** Closes the connections; called when no job runs any more. */
  close(): void
}

/** Days for which received reports are remembered: longer than a report's time is accepted. */
const eventDays = 2

/** @param options.jobs the runner with the queue */
export function openEmail(
  { clock }: Pick<Foundation, 'clock'>,
  { dnsServers, eventsSecret, domain, allowedServers, days }: EmailSettings,
  { job, jobs, log }: { readonly job: () => Job; readonly jobs: Jobs; readonly log: Logger },
): OpenEmail {
  const servers = createServers(createDial(allowedServers))
  const deliver = createDeliver({ job, servers, clock, log })
  const now = () => clock.now()
  return {
    mailing: {
      mailDomain: domain,
      lookUp: createLookUp(dnsServers),
      wake: ({ id, organizationId }, at, transaction) =>
        jobs.enqueue(emailQueueName, { messageId: id, organizationId }, { transaction, key: id, ...(at > now() && { startAfter: at }) }),
    },
    queue: emailQueue(deliver),
    sweeps: [emailSweep((before, most) => job().emailMessages.overdue(before, most), deliver, now), lookSweep(job, { clock, log })],
    retentionRules: [
      agingOfClaims,
      { table: 'providers.email_messages', days, old: 'o.created_at < $1', order: 'o.created_at' },
      { table: 'providers.email_events', days: eventDays, old: 'o.at < $1', order: 'o.at' },
    ],
    handlers: { 'POST /providers/api/email/events': eventsHandler({ job, secret: eventsSecret, now }) },
    close: () => servers.close(),
  }
}
