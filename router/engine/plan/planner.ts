import type { PlanNode } from '@graphql-hive/router-query-planner'
import { type FieldNode, parse, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import type { Names } from '../operation/names.ts'
import type { Operation } from '../operation/operation.ts'
import type { Supergraph } from '../supergraph.ts'
import { openApolloPlanner } from './apollo.ts'
import { createHivePlanner } from './hive.ts'
import { type Askers, askHere, createAskers, type PlanText, type PlanTexts, withSecond } from './plan-text.ts'
import { plannable } from './plannable.ts'

/** Plans operations over the subgraphs. */
export interface Planner {
  /**
   * Plans one folded and filtered operation. A mutation with several root fields has several plans: each must finish
   * before the next begins. No plan is returned when no subgraph is needed. @throws DomainError BAD_USER_INPUT for an
   * operation that is too large or takes too long to plan, RATE_LIMITED when too many others wait, and every error of
   * the planner
   * @param askers the callers who wait for the plan @default none in particular
   * @param active labels of progressive overrides that are active @default none
   */
  plan(operation: Operation, names: Names, askers?: Askers, active?: readonly string[]): Promise<readonly PlanNode[]>
}

/** Creates a planner. @param planTexts calls the planner libraries @default in this process */
export const createPlanner = (supergraph: Supergraph, planTexts = planHere(supergraph)): Planner => ({
  async plan(operation, names, askers = createAskers('nobody'), active = []) {
    const texts = plannable(operation, names, supergraph)
    if (texts.length === 0) return []
    const plans = await planTexts(texts, askers, active, takesContexts(texts, supergraph))
    return plans.filter(plan => plan !== null)
  },
})

/** Whether texts select a field that takes values from contexts: the first planner leaves these values out. */
function takesContexts(texts: readonly string[], { schema, contextual }: Pick<Supergraph, 'schema' | 'contextual'>): boolean {
  if (contextual.size === 0) return false
  const types = new TypeInfo(schema)
  return texts.some(text => {
    let found = false
    const note = (field: FieldNode) => {
      found ||= contextual.has(`${types.getParentType()?.name}.${field.name.value}`)
    }
    visit(parse(text, { noLocation: true }), visitWithTypeInfo(types, { Field: field => void note(field) }))
    return found
  })
}

/**
 * Plans in this process, for users who run operations of their own: a plan that has begun cannot be stopped.
 * @throws Error for a supergraph that the first planner cannot read
 */
export function planHere(supergraph: Supergraph): PlanTexts {
  let second: Promise<PlanText> | undefined
  const askSecond: PlanText = async (text, active) => {
    second ??= openApolloPlanner(supergraph)
    return (await second)(text, active)
  }
  return withSecond(askHere(createHivePlanner(supergraph)), askHere(askSecond))
}
