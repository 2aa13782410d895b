import type { RunRow } from '../../stores/run/run.ts'
import type { StepRow, StepStatus } from '../../stores/run/step.ts'
import type { Json, PlanStep, StepKind } from '../../stores/workflow.ts'
import { canonical } from '../run/canonical.ts'
import { moveAfter, type Outcome } from '../run/interpret.ts'
import { fill, holds, MissingPath, type Scope } from '../run/template.ts'

/** What a step of a run shows of itself. */
export interface Shown {
  readonly status: StepStatus
  readonly input: Json
  readonly output: Json
}

/** What a step recorded last. */
export interface Recorded extends Pick<StepRow, 'key' | 'kind' | 'status' | 'input' | 'output' | 'failureCode' | 'failureMessage'> {
  /** Whether a person changed its arguments: then its input is the person's, not the plan's. */
  readonly isEdited: boolean
}

/** One step as it was, and as it would be. */
export interface ComparedStep {
  readonly key: string
  readonly same: boolean
  readonly before: Shown | null
  readonly after: Shown | null
}

const nothing = (status: StepStatus): Shown => ({ status, input: null, output: null })

/** Kinds whose steps are worked out anew; all others are answered with what they recorded. */
const workedOut: readonly StepKind[] = ['BRANCH', 'REPORT', 'TASK']

type Replayed = { readonly shown: Shown; readonly outcome: Outcome | 'stopped' }

const unanswered = (input: Json): Replayed => ({ shown: { status: 'SKIPPED', input, output: null }, outcome: { is: 'done', output: null } })

/** What a plan gives a step to work with: its arguments, prompt, text or list. @throws MissingPath */
function inputOf(step: PlanStep, scope: Scope): Json {
  if (step.kind === 'DELAY' || step.kind === 'BRANCH') return null
  if (step.kind === 'MODEL') return { prompt: fill(step.prompt!, scope) }
  if (step.kind === 'MAP') return fill(step.list!, scope)
  if (step.kind !== 'REPORT' && step.kind !== 'TASK') return fill(step.arguments, scope)
  const text = fill(step.text!, scope)
  return { text: typeof text === 'string' ? text : JSON.stringify(text) }
}

/** How a recorded step went on: as it ended, refused by people and policies where it was. */
function outcomeOf({ status, output, failureCode, failureMessage }: Recorded): Outcome | 'stopped' {
  if (status === 'SUCCEEDED' || status === 'SKIPPED') return { is: 'done', output }
  if (failureCode === null) return 'stopped'
  const failure = { code: failureCode, message: failureMessage ?? '' }
  return { is: /^(?:APPROVAL|POLICY)_/.test(failureCode) ? 'refused' : 'failed', failure }
}

function replayStep(step: PlanStep, recorded: Recorded | undefined, scope: Scope): Replayed {
  try {
    if (step.kind === 'BRANCH') {
      const isTrue = holds(step.condition!, scope)
      return { shown: { status: 'SUCCEEDED', input: null, output: isTrue }, outcome: isTrue ? { is: 'done', output: true } : { is: 'false' } }
    }
    const filled = inputOf(step, scope)
    if (workedOut.includes(step.kind)) {
      if (recorded?.status === 'SKIPPED') return unanswered(null)
      const id = (recorded?.output as { readonly id?: string } | null | undefined)?.id ?? null
      const output = { id, text: (filled as { readonly text: string }).text }
      return { shown: { status: 'SUCCEEDED', input: filled, output }, outcome: { is: 'done', output } }
    }
    if (!recorded || recorded.status === 'PENDING') return unanswered(filled)
    // A step that ended before it began its work recorded no input.
    const input = recorded.isEdited || (recorded.input === null && recorded.status !== 'SUCCEEDED') ? recorded.input : filled
    return { shown: { status: recorded.status, input, output: recorded.output }, outcome: outcomeOf(recorded) }
  } catch (error) {
    if (!(error instanceof MissingPath)) throw error
    if (recorded?.status === 'SKIPPED') return unanswered(null)
    return {
      shown: nothing('FAILED'),
      outcome: { is: 'failed', failure: { code: 'TEMPLATE_MISSING', message: `The step names {{${error.path}}}, which leads to nothing.` } },
    }
  }
}

/** Works a plan out against what the steps of a run recorded: nothing is called, and nobody is asked. @returns its steps, by their keys */
export function replay(plan: readonly PlanStep[], input: Json, recorded: readonly Recorded[]): ReadonlyMap<string, Shown> {
  const shown = new Map<string, Shown>()
  const outputs = new Map<string, Json>()
  let rest: StepStatus = 'SKIPPED'
  for (let at = 0; at < plan.length; ) {
    const step = plan[at]!
    const known = recorded.find(({ key, kind }) => key === step.key && kind === step.kind)
    const { shown: state, outcome } = replayStep(step, known, { input, outputs })
    shown.set(step.key, state)
    if (outcome === 'stopped') {
      rest = 'CANCELLED'
      break
    }
    if (outcome.is === 'done') outputs.set(step.key, outcome.output)
    if (outcome.is === 'false') outputs.set(step.key, false)
    const move = moveAfter(plan, at, outcome)
    if ('ends' in move) {
      if (move.ends === 'FAILED') rest = 'PENDING'
      break
    }
    at = move.to
  }
  // What lies before the last step that was reached was gone past.
  const last = plan.findLastIndex(({ key }) => shown.has(key))
  for (const [at, { key }] of plan.entries()) if (!shown.has(key)) shown.set(key, nothing(at < last ? 'SKIPPED' : rest))
  return shown
}

/**
 * Compares a run with what another plan would make of it.
 * @param run    its input
 * @param before its steps as they are shown
 */
export function compareRun(
  run: Pick<RunRow, 'input'>,
  before: readonly Pick<StepRow, 'key' | 'status' | 'input' | 'output'>[],
  plan: readonly PlanStep[],
  recorded: readonly Recorded[],
): readonly ComparedStep[] {
  const after = replay(plan, run.input, recorded)
  const was = new Map(before.map(({ key, status, input, output }) => [key, { status, input, output }]))
  const keys = [...plan.map(({ key }) => key), ...before.map(({ key }) => key).filter(key => !after.has(key))]
  return keys.map(key => {
    const [one, other] = [was.get(key) ?? null, after.get(key) ?? null]
    return { key, before: one, after: other, same: one !== null && other !== null && canonical(one as unknown as Json) === canonical(other as unknown as Json) }
  })
}
