import type { ToolRun } from '../../stores/run/run.ts'
import type { RoundRow, ToolCallRow } from '../../stores/run/step.ts'
import type { Json } from '../../stores/workflow.ts'
import { hasEnded } from '../map/progress.ts'

/** Maximum characters that a model is told of what came of a call. */
const maxResult = 16_384

/** A tool call whose run begins: its place among all calls of the step. */
export interface BegunCall {
  readonly index: number
  readonly call: ToolCallRow
}

/** How the calls of a round go on: runs begin, are waited for, or have all ended, so that the model is told; or one of them has an unknown outcome. */
export type ToolProgress = { readonly begin: readonly BegunCall[] } | { readonly rounds: readonly RoundRow[] } | { readonly unclear: Pick<ToolCallRow, 'name'> }

/** The place of the first call of the last round among all calls. */
export const offsetOf = (rounds: readonly RoundRow[]): number => rounds.slice(0, -1).reduce((sum, { calls }) => sum + calls.length, 0)

/** Whether calls of the last round are still to be made, or under way. */
export const hasOpenCalls = (rounds: readonly RoundRow[] | null): boolean => rounds?.at(-1)?.calls.some(({ result }) => result === null) ?? false

/** Whether nothing more comes of a call: a cancelled run leaves a call under way to its end. */
const isSettled = (run: ToolRun): boolean => hasEnded(run) && run.stepStatus !== 'RUNNING'

/** What a model is told of a call whose run has ended. */
function resultOf({ status, stepStatus, output, failureCode, failureMessage }: ToolRun): string {
  if (stepStatus === 'SUCCEEDED') return shortened(output)
  if (status === 'CANCELLED') return 'The call was cancelled.'
  if (failureCode === 'OUTCOME_UNKNOWN') return 'The call has not happened: a person has checked.'
  if (status === 'FAILED') return `The call failed (${failureCode}): ${failureMessage}`.slice(0, maxResult)
  return shortened(output)
}

const shortened = (output: Json): string => (typeof output === 'string' ? output : JSON.stringify(output)).slice(0, maxResult).toWellFormed()

/** Decides how the calls of the last round go on. @param runs their runs, as far as they have begun */
export function takeToolsOn(rounds: readonly RoundRow[], runs: readonly ToolRun[]): ToolProgress {
  const last = rounds.at(-1)!
  const offset = offsetOf(rounds)
  const runOf = (at: number) => runs.find(({ itemIndex }) => itemIndex === offset + at)
  const begin = last.calls.flatMap((call, at) => (call.result === null && !runOf(at) ? [{ index: offset + at, call }] : []))
  const isWaiting = last.calls.some((call, at) => call.result === null && !(runOf(at) && isSettled(runOf(at)!)))
  if (begin.length > 0 || isWaiting) return { begin }
  const unclear = last.calls.find((call, at) => call.result === null && runOf(at)!.stepStatus === 'UNKNOWN')
  if (unclear) return { unclear }
  const calls = last.calls.map((call, at) => (call.result === null ? { ...call, result: resultOf(runOf(at)!) } : call))
  return { rounds: [...rounds.slice(0, -1), { ...last, calls }] }
}
