import type { PolicyDecision } from '../../stores/run/policy-request.ts'
import type { Failure, RunStatus } from '../../stores/run/run.ts'
import type { Phase, RoundRow, StepStatus } from '../../stores/run/step.ts'
import type { Gate, Json, PlanStep, StepKind } from '../../stores/workflow.ts'

/** A run as the interpreter sees it. */
export interface RunState {
  readonly status: RunStatus
  /** The place in the plan of the step that it is at; the plan's length once it has ended there. */
  readonly cursor: number
  readonly input: Json
  /** What the last step gave. */
  readonly output: Json
  readonly failure: (Failure & { readonly stepKey: string }) | null
}

/** A step that has begun, or that a retry has put back to its beginning. */
export interface StepState {
  readonly key: string
  readonly kind: StepKind
  readonly status: StepStatus
  readonly phase: Phase | null
  /** 1, and one more with each retry of the run. */
  readonly attempt: number
  /** How often it was called in this attempt. */
  readonly tries: number
  readonly input: Json
  readonly output: Json
  readonly failure: Failure | null
  readonly approvalId: string | null
  /** What the settlement and policy service was asked last. */
  readonly policyId: string | null
  readonly childRunId: string | null
  /** Of a MAP: the attempt from which on runs of its items count. */
  readonly childrenFrom: number
  /** The last call of a model, in providers' log. */
  readonly callId: string | null
  /** Of a model's step: what it said and which tools it called, round by round. */
  readonly rounds: readonly RoundRow[] | null
  /** When it goes on by itself. */
  readonly dueAt: Date | null
  readonly startedAt: Date | null
  readonly finishedAt: Date | null
}

export const isOver = (status: RunStatus): boolean => status === 'SUCCEEDED' || status === 'FAILED' || status === 'CANCELLED'

/** What is known of the tool that a step calls. */
export interface ToolFacts {
  readonly permission: 'AUTO' | 'ASK' | 'DENY'
  readonly risk: Gate['risk']
  /** The organization that it belongs to at the settlement and policy service; null for ours. */
  readonly counterparty: string | null
  /** Whether calling it twice under one key has one effect. */
  readonly mayRepeat: boolean
  /** Whether it has no effect at all. */
  readonly readOnly: boolean
}

/** Whether a tool is there, may be called, and belongs to whom the step says. */
export const isCallable = ({ counterparty }: PlanStep, tool: ToolFacts | null): tool is ToolFacts =>
  tool !== null && tool.permission !== 'DENY' && (tool.counterparty === null || counterparty === null || tool.counterparty === counterparty)

/** Whether a trial may really call a tool: one of ours that only reads, and whatever is refused anyhow. */
export const isHarmless = (step: PlanStep, tool: ToolFacts | null): boolean =>
  !isCallable(step, tool) || (tool.readOnly && tool.counterparty === null && step.counterparty === null)

/** An approval as it stands. */
export interface ApprovalState {
  readonly status: 'PENDING' | 'APPROVED' | 'EDITED' | 'REJECTED' | 'RESPONDED' | 'EXPIRED' | 'CANCELLED'
  readonly arguments: Json
  readonly argumentsHash: string
  readonly response: string | null
  readonly onExpiry: Gate['onExpiry']
  readonly expiresAt: Date
  readonly escalateAt: Date | null
  readonly escalatedAt: Date | null
}

/** What the settlement and policy service was asked, as it stands. */
export interface PolicyState {
  readonly decision: PolicyDecision
  readonly counterparty: string
  readonly actionHash: string
  readonly reason: string | null
  readonly expiresAt: Date
}

/** A step before its beginning. */
export const fresh = (key: string, kind: StepKind, attempt = 1, childrenFrom = attempt): StepState => ({
  ...{ key, kind, status: 'PENDING', phase: null, attempt, tries: 0, input: null, output: null, failure: null },
  ...{ approvalId: null, policyId: null, childRunId: null, childrenFrom, callId: null, rounds: null, dueAt: null, startedAt: null, finishedAt: null },
})
