import type { PlanNode } from '@graphql-hive/router-query-planner'
import { type Deferral, isWithin } from '../../operation/deferral.ts'
import type { DeferredStep, EntityStep, FetchStep } from '../step.ts'

/** A fetch, or a portion of one, ready to run; `for` is null where the first payload waits for it. */
export interface CompiledPortion {
  readonly step: FetchStep | EntityStep
  readonly for: readonly Deferral[] | null
}

/** The same fetch once for each streamed list that it leads through: for the elements that do not come first. */
export function restsOf({ step, for: needing }: CompiledPortion): CompiledPortion[] {
  if (step.kind !== 'entities') return []
  const streams = new Set(step.groups.flatMap(({ through }) => through.filter(stream => stream !== null)))
  return [...streams].map(stream => {
    const isAround = needing === null || needing.every(each => isWithin(stream, each))
    return { step: { ...step, rest: stream }, for: isAround ? [stream] : needing }
  })
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
          const serving = earlier.filter(at => serves(steps[at]!.for, needing) || isSameRest(steps[at]!.step, step))
          const after = serving.filter(at => !serving.some(other => steps[other]!.after.includes(at)))
          return [steps.push({ step, for: needing, after }) - 1]
        })
    }
  }
}

/** Whether any of the deferrals is one of the others, or is around one of them. */
const serves = (bringing: readonly Deferral[], needing: readonly Deferral[]): boolean => needing.some(inner => bringing.some(outer => isWithin(inner, outer)))

/** Whether two fetches complete the same elements of a streamed list: what one of them starts from, the other may bring. */
const isSameRest = (one: FetchStep | EntityStep, other: FetchStep | EntityStep): boolean =>
  one.kind === 'entities' && other.kind === 'entities' && one.rest !== null && one.rest === other.rest
