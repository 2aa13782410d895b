import { newId } from '../../../platform/ids.ts'
import type { Sweep } from '../../../platform/jobs/queue.ts'
import { write } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { announceRun, announceWidget } from '../engines/run/announce.ts'
import { isHeldBy } from '../engines/run/kill-switch.ts'
import { newRun } from '../engines/run/start.ts'
import { turnAfter } from './rules.ts'

/** How often schedules are looked at that no timer of this process names, in ms, and how many at once. */
const everyMs = 30_000
const maxAtOnce = 50
/** For how long a schedule is left alone while nothing may begin, in ms. */
const heldMs = 10_000

/**
 * Begins a run for the schedule of a workflow that is due, and decides when the next one is. Turns that passed while nothing could begin are
 * made up for by one run; a turn at which the one before still waits for its place is left out.
 */
export async function takeTurn(job: Job, id: string): Promise<void> {
  await write(job, {
    async run({ transaction, now }) {
      const workflow = await job.workflows.lockDue(id, now, transaction)
      if (!workflow) return null
      const { organizationId, publishedPlanId: planId } = workflow
      const held = await job.killSwitches.heldOf(organizationId, transaction)
      if (isHeldBy(held)) {
        await job.workflows.update(workflow, { nextAt: new Date(now.getTime() + heldMs) }, transaction)
        return null
      }
      await job.workflows.update(workflow, { nextAt: await turnAfter(workflow.trigger, now) }, transaction)
      if (planId === null || (await job.runs.isScheduledInQueue(id, transaction))) return null
      const begins = { organizationId, workflowId: id, planId, trigger: 'SCHEDULE', input: {}, startedById: null, createdBy: 'workflow' } as const
      return job.runs.insert(newRun(newId(now), begins, now), transaction)
    },
    audit: run => ({ tenantId: run.organizationId, action: 'run.started', subjectId: run.id, details: { workflowId: run.workflowId } }),
    announce(run) {
      announceRun(job.events, run)
      announceWidget(job.events, run.organizationId)
      job.runner.soon()
    },
  })
}

/** What looks after schedules in this process. */
export function turnsOfSchedules(job: () => Job): Sweep {
  let wake = (_ms?: number): void => {}
  return {
    name: 'schedules that are due',
    everyMs,
    wakes(whenAsked) {
      wake = whenAsked
    },
    async run() {
      const present = job()
      const due = await present.workflows.due(present.clock.now(), maxAtOnce)
      for (const id of due) await takeTurn(present, id)
      const now = present.clock.now()
      const next = due.length === maxAtOnce ? now : await present.workflows.nextTurn(now, new Date(now.getTime() + everyMs))
      if (next) wake(Math.max(0, next.getTime() - now.getTime()))
    },
  }
}
