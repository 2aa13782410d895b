import type { Logger } from 'pino'
import type { Clock } from '../../../../platform/clock.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'
import { step } from '../../../store/write.ts'
import type { Job } from '../../context.ts'
import { factsOf } from './news.ts'
import { recordsOf } from './records.ts'
import { claimOf, look, lookAgainMs } from './rules.ts'

/** Interval in ms of the search for due domains, and maximum domains in one round. */
const everyMs = 60_000
const atOnce = 20
/** Time in ms after which a domain is looked up again whose worker died. */
const againMs = 600_000

/** Looks up the records of each domain once a day. Any number of processes may run it at the same time. */
export const lookSweep = (job: () => Job, { clock, log }: { readonly clock: Clock; readonly log: Logger }): Sweep => ({
  name: 'records of sender domains',
  everyMs,
  asksOthers: true,
  async run() {
    const now = clock.now()
    const found = await job().senderDomains.takeDue(now, new Date(now.getTime() + againMs), atOnce)
    await Promise.all(found.map(id => lookUp(job(), id, log)))
  },
})

/** Looks up the records of one domain, and stores the resulting status. */
export async function lookUp(job: Job, id: string, log: Pick<Logger, 'warn'>): Promise<void> {
  const { senderDomains, mailing, platformOrganization } = job
  const seen = await senderDomains.byId.load(id)
  if (!seen) return
  const looked = await mailing.lookUp(recordsOf(seen, mailing.mailDomain))
  const admins = await platformOrganization.find()
  const stepped = await step(job, {
    of: senderDomains,
    hold: id,
    decide(row, { now }) {
      const { status, seen } = look(row, looked)
      const isNews = status !== row.status
      return {
        changes: {
          seen,
          lastCheckedAt: now,
          nextCheckAt: new Date(now.getTime() + lookAgainMs),
          ...(isNews && { status, ...claimOf(row.status, status, now) }),
        },
        isNews,
      }
    },
    audit: ({ before, after }) =>
      before.status === after.status || after.organizationId === null
        ? null
        : {
            tenantId: after.organizationId,
            action: `sender_domain.${after.status.toLowerCase()}`,
            subjectId: after.id,
            details: { domain: after.domain, level: after.level },
          },
    facts: ({ before, after }) => factsOf(before, after, job, admins),
  })
  if (stepped && stepped.before.status !== stepped.after.status)
    log.warn({ domain: stepped.after.domain, status: stepped.after.status }, 'status of a sender domain changed')
}
