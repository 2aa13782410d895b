import type { Json, PlanStep } from '../../stores/workflow.ts'
import { type MapChildren, type MapProgress, maxBytes, progressOf } from '../map/progress.ts'
import type { Outcome } from './interpret.ts'
import { limits } from './plan.ts'
import type { StepState } from './state.ts'
import { fill, MissingPath, type Scope } from './template.ts'

type Ended = { readonly outcome: Outcome }

const failed = (code: 'NOT_A_LIST' | 'LIST_TOO_LONG' | 'CHILD_FAILED', message: string): Ended => ({ outcome: { is: 'failed', failure: { code, message } } })

/** The list of a MAP step, or why it has none. @throws MissingPath */
export function readList(step: PlanStep, scope: Scope): { readonly items: readonly Json[] } | Ended {
  const items = fill(step.list!, scope)
  if (!Array.isArray(items)) return failed('NOT_A_LIST', `${step.list} gives no list.`)
  const { items: most } = limits.list
  return items.length > most ? failed('LIST_TOO_LONG', `${step.list} gives ${items.length} items: the maximum is ${most}.`) : { items }
}

/** Decides how a MAP step goes on: which items begin, or how it ends. @param mayBegin whether there is a plan that runs can begin with */
export function takeListOn(step: PlanStep, state: StepState, scope: Scope, children: MapChildren, mayBegin: boolean): Pick<MapProgress, 'begin'> | Ended {
  const list = state.input as readonly Json[]
  const inputOf = (index: number): Json | undefined => {
    try {
      return mayBegin ? fill(step.arguments, { ...scope, item: { [step.itemName!]: list[index]!, index } }) : undefined
    } catch (error) {
      if (error instanceof MissingPath) return undefined
      throw error
    }
  }
  const { begin, isOver, hasFailed } = progressOf(step, { length: list.length, attempt: state.attempt }, children, inputOf)
  if (!isOver) return { begin }
  if (hasFailed && step.onItemFailure !== 'SKIP') return failed('CHILD_FAILED', 'The run of an item has failed, or could not begin.')
  const { outputs } = children
  if (outputs === null) return failed('LIST_TOO_LONG', `The outputs have together more than ${maxBytes} bytes.`)
  return { outcome: { is: 'done', output: list.map((_, index) => outputs.get(index) ?? null) } }
}
