import { DomainError } from '../../../../platform/errors.ts'
import { stepIdOf } from '../../engines/run/records.ts'
import { isOver } from '../../engines/run/state.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { StepRow } from '../../stores/run/step.ts'
import type { PlanStep } from '../../stores/workflow.ts'

type Verb = 'cancel' | 'retry' | 'resolve'

/** The verbs that a run allows as it stands. */
const possibleFor = ({ status }: Pick<RunRow, 'status'>): readonly Verb[] => (status === 'FAILED' ? ['retry', 'resolve'] : isOver(status) ? [] : ['cancel'])

/** Requires that a run allows a verb. @throws CONFLICT, reason ILLEGAL_MOVE with `from`, `verb` and `possible` */
export function requireMove(run: Pick<RunRow, 'status'>, verb: Verb): void {
  const possible = possibleFor(run)
  if (possible.includes(verb)) return
  const rest = possible.length > 0 ? `it allows ${possible.join(', ')}` : 'it allows nothing more'
  throw new DomainError('CONFLICT', `A run that is ${run.status} does not allow ${verb}: ${rest}.`, {
    reason: 'ILLEGAL_MOVE',
    from: run.status,
    verb,
    possible,
  })
}

/**
 * Decides from which step a run goes on.
 * @returns its place in the plan
 * @throws BAD_USER_INPUT for a step that has not begun; CONFLICT, reason OUTCOME_UNKNOWN, while nobody knows what became of a step from there on
 */
export function retryFrom(run: Pick<RunRow, 'failureStepKey'>, plan: readonly PlanStep[], steps: readonly StepRow[], fromStep: string | null): number {
  const key = fromStep ?? run.failureStepKey
  const at = plan.findIndex(step => step.key === key)
  if (!steps.some(step => step.key === key)) {
    const begun = plan.filter(step => steps.some(each => each.key === step.key)).map(step => step.key)
    throw new DomainError('BAD_USER_INPUT', `fromStep is no step of this run that has begun: it has ${begun.join(', ')}.`, { field: 'fromStep' })
  }
  requireClear(steps.find(step => step.status === 'UNKNOWN' && plan.findIndex(each => each.key === step.key) >= at))
  return at
}

/**
 * Requires that what is to be repeated has no step of which nobody knows whether it happened: here, or in a run below.
 * @throws CONFLICT, reason OUTCOME_UNKNOWN with `stepId`
 */
export function requireClear(unclear: Pick<StepRow, 'id' | 'key' | 'status'> | null | undefined): void {
  if (!unclear) return
  const todo = unclear.status === 'RUNNING' ? 'its call is still under way, so wait for its end' : 'check it, and record it with resolveStep'
  throw new DomainError('CONFLICT', `The outcome of step ${unclear.key} (${unclear.id}) is unknown: ${todo}.`, {
    ...{ reason: 'OUTCOME_UNKNOWN', stepId: unclear.id },
  })
}

/** The steps of a run in the plan's order: those that have begun, and the others as they stand without a row. */
export function stepsInOrder(run: RunRow, plan: readonly PlanStep[], begun: readonly StepRow[]): readonly StepRow[] {
  const byKey = new Map(begun.map(step => [step.key, step]))
  const still = run.status === 'CANCELLED' ? 'CANCELLED' : run.status === 'SUCCEEDED' ? 'SKIPPED' : 'PENDING'
  return plan.map(({ key, kind }, at) => {
    const row = byKey.get(key)
    if (row) return row
    const { id: runId, organizationId, createdAt, updatedAt, createdBy } = run
    return {
      ...{ runId, organizationId, createdAt, updatedAt, createdBy, id: stepIdOf(runId, key), key, kind },
      ...{ status: at < run.cursor ? 'SKIPPED' : still, phase: null, attempt: 1, tries: 0, input: null, output: null },
      ...{
        failureCode: null,
        failureMessage: null,
        approvalId: null,
        policyId: null,
        childRunId: null,
        childrenFrom: 1,
        callId: null,
        rounds: null,
        dueAt: null,
        startedAt: null,
        finishedAt: null,
        version: 1,
      },
    } as StepRow
  })
}
