import type { PlanNode } from '@graphql-hive/router-query-planner'
import { Refusal } from '../../../platform/errors.ts'
import type { Names } from '../operation/names.ts'
import type { Operation } from '../operation/operation.ts'
import type { Supergraph } from '../supergraph.ts'
import { createApolloPlanner } from './apollo.ts'
import { createHivePlanner } from './hive.ts'
import type { PlanText } from './plan-text.ts'
import { plannable } from './plannable.ts'

/** Plans operations over the subgraphs. */
export interface Planner {
  /**
   * Plans one operation that is folded and filtered already. Several plans come back for a mutation with several root
   * fields: each is to be finished before the next begins. None comes back when no subgraph is needed.
   * Throws Refusal BAD_USER_INPUT for an operation that is too large or takes too long to plan, RATE_LIMITED when too many others
   * are before it, and whatever the planner throws.
   */
  plan(operation: Operation, names: Names): Promise<readonly PlanNode[]>
}

/** Makes a planner. Throws for a supergraph that the first planner cannot read. */
export function createPlanner(supergraph: Supergraph): Planner {
  const [first, second] = [createHivePlanner(supergraph), createApolloPlanner(supergraph)]
  const planText: PlanText = text =>
    first(text).catch(cause => {
      if (cause instanceof Refusal) throw cause
      // Where neither has a plan, the first one's words go to the log.
      return second(text).catch(() => {
        throw cause
      })
    })
  return {
    async plan(operation, names) {
      const plans: PlanNode[] = []
      for (const text of plannable(operation, names, supergraph)) {
        const plan = await planText(text)
        if (plan) plans.push(plan)
      }
      return plans
    },
  }
}
