import type { PlanNode } from '@graphql-hive/router-query-planner'
import { type Deferral, isWithin } from '../operation/deferral.ts'
import type { DeferredStep, EntityStep, FetchStep } from './step.ts'

/** A fetch, or a portion of one, ready to run; `for` is null where the first payload waits for it. */
export interface CompiledPortion {
  readonly step: FetchStep | EntityStep
  readonly for: readonly Deferral[] | null
}

/**
 * Lists the fetches that only deferred fragments need. Each waits for those deferred fetches before it in the plan that
 * the same fragments, or fragments around them, wait for: no other fetch brings what it starts from.
 */
export function inOrder(plans: readonly PlanNode[], portionsOf: (node: PlanNode) => readonly CompiledPortion[]): DeferredStep[] {
  const steps: DeferredStep[] = []
  let before: readonly number[] = []
  for (const plan of plans) before = [...before, ...place(plan, before)]
  return steps

  /** @returns positions of the node's deferred fetches */
  function place(node: PlanNode, earlier: readonly number[]): readonly number[] {
    switch (node.kind) {
      case 'Sequence': {
        const inside: number[] = []
        for (const inner of node.nodes) inside.push(...place(inner, [...earlier, ...inside]))
        return inside
      }
      case 'Parallel':
        return node.nodes.flatMap(inner => place(inner, earlier))
      case 'Flatten':
        return place(node.node, earlier)
      default:
        return portionsOf(node).flatMap(portion => {
          if (portion.for === null) return []
          const { step, for: needing } = portion
          const serving = earlier.filter(at => serves(steps[at]!.for, needing))
          const after = serving.filter(at => !serving.some(other => steps[other]!.after.includes(at)))
          return [steps.push({ step, for: needing, after }) - 1]
        })
    }
  }
}

/** Whether any of the deferrals is one of the others, or is around one of them. */
const serves = (bringing: readonly Deferral[], needing: readonly Deferral[]): boolean => needing.some(inner => bringing.some(outer => isWithin(inner, outer)))
