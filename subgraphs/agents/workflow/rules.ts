import { DomainError } from '../../../platform/errors.ts'
import type { WorkflowTriggerInput } from '../resolvers.generated.ts'
import type { TriggerRow, WorkflowRow } from '../stores/workflow.ts'
import { nextTurn, readCron, readTimeZone } from './schedule.ts'

/** The facts that may begin a run. */
export const events = ['task.created', 'run.failed', 'post.published', 'post.failed', 'order.paid'] as const
export type EventName = (typeof events)[number]

/** How many workflows a caller writes in 24 hours. */
export const workflowsADay = 1_000

/** What a trigger of another kind leaves out. */
const nothing = { event: null, cron: null, timeZone: null, signed: null } as const

/** Reads what begins a workflow. @throws BAD_USER_INPUT */
export function readTrigger({ kind, event, cron, timeZone, signed }: WorkflowTriggerInput): TriggerRow {
  if (kind === 'SCHEDULE') return { ...nothing, kind, cron: readCron(cron), timeZone: readTimeZone(timeZone) }
  if (kind === 'WEBHOOK') return { ...nothing, kind, signed: signed ?? false }
  if (kind !== 'EVENT') return { ...nothing, kind }
  if (event && (events as readonly string[]).includes(event)) return { ...nothing, kind, event }
  throw new DomainError('BAD_USER_INPUT', `trigger.event is one of ${events.join(', ')}.`, { field: 'trigger.event' })
}

/** When the schedule of a trigger begins its next run; null for triggers of other kinds. @throws BAD_USER_INPUT for one that never does */
export const turnAfter = async ({ cron, timeZone }: TriggerRow, now: Date): Promise<Date | null> =>
  cron ? nextTurn({ cron, timeZone: timeZone ?? 'UTC' }, now) : null

/** Requires that a workflow is not archived. @throws CONFLICT, reason ILLEGAL_MOVE */
export function requireInUse({ status: from }: Pick<WorkflowRow, 'status'>, verb: 'update' | 'publish' | 'archive'): void {
  if (from !== 'ARCHIVED') return
  throw new DomainError('CONFLICT', `An archived workflow does not allow ${verb}: create another.`, { reason: 'ILLEGAL_MOVE', from, verb, possible: [] })
}
