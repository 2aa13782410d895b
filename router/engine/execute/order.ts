import type { EntityStep, FetchStep, Step } from './step.ts'

/**
 * Removes needless waiting from a plan. A planner arranges fetches in waves, and a wave waits for the slowest fetch of
 * the wave before. Data below different root fields is independent, so each fetch waits only for fetches below root
 * fields of its own. Mutations keep their order, and so does a plan without needless waiting.
 */
export function withoutVainWaits(step: Step): Step {
  const steps: (FetchStep | EntityStep)[] = []
  const before: (readonly number[])[] = []
  place(step, [])
  if (steps.some(({ fetch }) => fetch.kind !== 'query')) return step
  const roots = steps.map(rootsOf)
  const after = steps.map(({ kind }, at) => (kind === 'fetch' ? before[at]! : before[at]!.filter(earlier => overlaps(roots[earlier]!, roots[at]!))))
  return after.every((waits, at) => waits.length === before[at]!.length) ? step : { kind: 'flow', steps, after: after.map(waits => direct(waits, after)) }

  /** @returns positions of the step's fetches in the list */
  function place(step: Step, earlier: readonly number[]): readonly number[] {
    switch (step.kind) {
      case 'sequence': {
        const inside: number[] = []
        for (const inner of step.steps) inside.push(...place(inner, earlier.concat(inside)))
        return inside
      }
      case 'parallel':
        return step.steps.flatMap(inner => place(inner, earlier))
      case 'flow':
        throw new Error('A plan is put in order once')
      default:
        before.push(earlier)
        return [steps.push(step) - 1]
    }
  }
}

/** Response keys of the root fields to whose data a fetch contributes. */
function rootsOf(step: FetchStep | EntityStep): Set<string> {
  if (step.kind === 'fetch') return new Set(step.shape.keys())
  return new Set(step.groups.flatMap(({ paths }) => paths.map(([first]) => (typeof first === 'object' && 'Field' in first ? first.Field : ''))))
}

/** Removes from a list of dependencies those that another of them already implies. */
const direct = (waits: readonly number[], after: readonly (readonly number[])[]): number[] =>
  waits.filter(at => !waits.some(other => after[other]!.includes(at)))

function overlaps(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const name of one) if (other.has(name)) return true
  return false
}
