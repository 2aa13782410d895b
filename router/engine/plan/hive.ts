import { type QueryPlan, QueryPlanner } from '@graphql-hive/router-query-planner'
import { Refusal } from '../../../platform/errors.ts'
import type { Supergraph } from '../supergraph.ts'
import type { PlanText } from './plan-text.ts'
import { createQueue, within } from './queue.ts'

/** Milliseconds that an operation may wait for its turn, and that planning it may take then. */
const patienceMs = 5000

/**
 * The planner computes on the threads on which files are read, names looked up and passwords checked. Node has four of them, and
 * nothing stops a plan that has begun.
 */
const limits = {
  atOnce: 2,
  waiting: 500,
  patienceMs,
  busy: 'Too many operations that were not asked before wait to be planned: try again in a moment.',
}

/** With it no `@override(label: "percent(…)")` ever holds: the field stays with the subgraph that gives it away. */
const noPercentage = 100

/**
 * Makes the first planner (@graphql-hive/router-query-planner): it plans a few operations at a time, equal ones once.
 * @throws Error for a supergraph that it cannot read
 */
export function createHivePlanner({ sdl }: Pick<Supergraph, 'sdl'>): PlanText {
  const planner = new QueryPlanner(sdl)
  const noLabels = new Set<string>()
  const queue = createQueue(limits)
  /** What is being planned: who asks again for what takes long does not make it be planned twice. */
  const underway = new Map<string, Promise<QueryPlan>>()
  return async text => {
    let planning = underway.get(text)
    if (!planning) {
      planning = queue.run(() => planner.planAsync(text, null, noLabels, noPercentage))
      underway.set(text, planning)
      const forget = () => underway.delete(text)
      planning.then(forget, forget)
    }
    const tooLong = () => new Refusal('BAD_USER_INPUT', 'The operation takes too long to plan; ask for less at once.')
    try {
      return (await within(2 * patienceMs, planning, tooLong)).node ?? null
    } catch (cause) {
      // Its parser goes fifty levels deep, whatever they consist of.
      if (String((cause as Error | null)?.message).includes('Recursion limit exceeded'))
        throw new Refusal('BAD_USER_INPUT', 'The operation nests fields, fragments and values too deep to be planned; send deep values as variables.')
      throw cause
    }
  }
}
