import type { Failure, FailureCode } from '../../stores/run/run.ts'
import type { RoundRow } from '../../stores/run/step.ts'
import type { Json, PlanStep } from '../../stores/workflow.ts'
import { endKey } from './plan.ts'
import type { StepState } from './state.ts'

/**
 * What became of a step. `done`, skipped: a trial went past it. `refused`: a person or a policy said no. `false`: its condition does not hold. `unknown`: its effect may stand or
 * not, and only a person can tell.
 */
export type Outcome =
  | { readonly is: 'done'; readonly output: Json; readonly isSkipped?: true }
  | { readonly is: 'false' }
  | { readonly is: 'refused'; readonly failure: Failure }
  | { readonly is: 'failed'; readonly failure: Failure }
  | { readonly is: 'unknown'; readonly failure: Failure }

/** Where a run goes from a step: to another one by its place in the plan, or to its end. */
export type Move = { readonly to: number } | { readonly ends: 'SUCCEEDED' } | { readonly ends: 'FAILED'; readonly failure: Failure }

const moveTo = (steps: readonly PlanStep[], key: string): Move => {
  if (key === endKey) return { ends: 'SUCCEEDED' }
  const to = steps.findIndex(step => step.key === key)
  if (to < 0) throw new Error(`the plan has no step ${key}`)
  return { to }
}

/** Decides where a run goes from the step at `at`. Steps lead forward only, so that every run ends. */
export function moveAfter(steps: readonly PlanStep[], at: number, outcome: Outcome): Move {
  const { next, otherwise } = steps[at]!
  if (outcome.is === 'done') {
    if (next !== null) return moveTo(steps, next)
    return at + 1 < steps.length ? { to: at + 1 } : { ends: 'SUCCEEDED' }
  }
  if (outcome.is === 'false') return otherwise === null ? { ends: 'SUCCEEDED' } : moveTo(steps, otherwise)
  if (outcome.is === 'refused' && otherwise !== null) return moveTo(steps, otherwise)
  return { ends: 'FAILED', failure: outcome.failure }
}

/** How a call ended without an answer that counts. */
export interface CallFailure {
  /** Whether it certainly had no effect: no connection, or a server that refused to take it. */
  readonly hadNoEffect: boolean
  readonly code: Extract<
    FailureCode,
    'TOOL_ERROR' | 'UPSTREAM_FAILED' | 'STEP_TIMEOUT' | 'NO_MODEL' | 'BUDGET_EXCEEDED' | 'NOT_PERMITTED' | 'PROFILE_NOT_ALLOWED'
  >
  readonly message: string
  /** Whether the other side has said no for good: repeating it is useless. */
  readonly isFinal?: boolean
  /** When the other side wants it again, in ms. */
  readonly retryAfterMs?: number | undefined
}

/** How a call ended: with an answer, with tools that the model wants called, without either, or with the process that made it. */
export type CallEnd =
  | { readonly answer: Json; readonly callId?: string }
  | { readonly round: RoundRow; readonly callId?: string }
  | { readonly failure: CallFailure }
  | 'interrupted'

/** How a call may be treated that ended without an answer. */
export interface Repeatability {
  /** Whether a second call under the same key has no second effect: read-only and idempotent tools, and models. */
  readonly mayRepeat: boolean
  readonly retries: number
  /** How often it was called under its present key. */
  readonly tries: number
}

/** In ms: 1 s, 4 s, 16 s and so on. @param tries how often it was called */
export const pauseAfter = (tries: number): number => 1_000 * 4 ** (tries - 1)

/** The longest that another side may have us wait before the next try, in ms. */
const longestPauseMs = 3_600_000

/** Decides what follows from a call that failed: it is repeated in so many ms, or the step ends. */
export function afterFailure(
  { hadNoEffect, code, message, isFinal = false, retryAfterMs = 0 }: CallFailure,
  { mayRepeat, retries, tries }: Repeatability,
): { readonly againInMs: number } | Outcome {
  if (isFinal) return { is: 'failed', failure: { code, message } }
  if ((hadNoEffect || mayRepeat) && tries <= retries) return { againInMs: Math.min(longestPauseMs, Math.max(pauseAfter(tries), retryAfterMs)) }
  if (hadNoEffect || mayRepeat) return { is: 'failed', failure: { code, message } }
  return { is: 'unknown', failure: { code: 'OUTCOME_UNKNOWN', message: `${message} It is unknown whether it happened: check, and resolve the step.` } }
}

/** The outcome of a call whose effect is unclear. */
export const unknown = (why: string): Outcome => ({
  is: 'unknown',
  failure: { code: 'OUTCOME_UNKNOWN', message: `${why} It is unknown whether it happened: check, and resolve the step.` },
})

/** A step after its end. */
export function endOf(state: StepState, outcome: Outcome, now: Date): StepState {
  const ended = { ...state, dueAt: null, finishedAt: now }
  if (outcome.is === 'done') return { ...ended, status: outcome.isSkipped ? 'SKIPPED' : 'SUCCEEDED', output: outcome.output }
  if (outcome.is === 'false') return { ...ended, status: 'SUCCEEDED', output: false }
  return { ...ended, status: outcome.is === 'unknown' ? 'UNKNOWN' : 'FAILED', failure: outcome.failure }
}

/** A step after the end of a call that has outlived its run, which was cancelled. */
export function concludeCancelled(state: StepState, ended: CallEnd, now: Date): StepState {
  if (ended === 'interrupted') return endOf(state, unknown('The process that called it has ended.'), now)
  if ('answer' in ended) return endOf(state, { is: 'done', output: ended.answer }, now)
  if ('round' in ended) return { ...state, status: 'CANCELLED', finishedAt: now }
  const { hadNoEffect, isFinal, code, message } = ended.failure
  if (isFinal) return endOf(state, { is: 'failed', failure: { code, message } }, now)
  return hadNoEffect ? { ...state, status: 'CANCELLED', finishedAt: now } : endOf(state, unknown(message), now)
}
