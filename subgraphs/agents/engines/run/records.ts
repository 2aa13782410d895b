import { idOfName } from '../../../../platform/ids.ts'
import type { NewRow } from '../../../../platform/sql/table.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { StepRow, steps } from '../../stores/run/step.ts'
import type { RunState, StepState } from './state.ts'

/** The id of a run's step: known before the step begins. */
export const stepIdOf = (runId: string, key: string): string => idOfName(runId, key)

/** A run as the interpreter sees it. */
export const runState = ({ status, cursor, input, output, failureCode, failureMessage, failureStepKey }: RunRow): RunState => ({
  ...{ status, cursor, input, output },
  failure: failureCode === null ? null : { code: failureCode, message: failureMessage!, stepKey: failureStepKey! },
})

/** What a run's row says of its state. */
export const runColumns = ({ status, cursor, output, failure }: RunState): Partial<RunRow> => ({
  ...{ status, cursor, output },
  ...{ failureCode: failure?.code ?? null, failureMessage: failure?.message ?? null, failureStepKey: failure?.stepKey ?? null },
})

/** A step as the interpreter sees it. */
export const stepState = ({ failureCode, failureMessage, ...row }: StepRow): StepState => ({
  ...{ key: row.key, kind: row.kind, status: row.status, phase: row.phase, attempt: row.attempt, tries: row.tries, input: row.input, output: row.output },
  failure: failureCode === null ? null : { code: failureCode, message: failureMessage! },
  ...{ approvalId: row.approvalId, policyId: row.policyId, childRunId: row.childRunId, childrenFrom: row.childrenFrom, callId: row.callId },
  ...{ rounds: row.rounds, dueAt: row.dueAt, startedAt: row.startedAt, finishedAt: row.finishedAt },
})

/** What a step's row says of its state. */
export const stepColumns = ({ failure, key: _, kind: __, ...state }: StepState): Partial<StepRow> => ({
  ...state,
  ...{ failureCode: failure?.code ?? null, failureMessage: failure?.message ?? null },
})

/** The row of a step that begins. */
export const newStep = ({ id: runId, organizationId, createdBy }: RunRow, state: StepState, now: Date): NewRow<typeof steps> => ({
  ...{ runId, organizationId, createdBy, id: stepIdOf(runId, state.key), key: state.key, kind: state.kind },
  ...{ status: state.status, attempt: state.attempt, ...stepColumns(state), createdAt: now, updatedAt: now },
})
