import type { PlanNode } from '@graphql-hive/router-query-planner'

/**
 * What a planner's library is asked: the plan for the text of one operation, in the form that the executor runs; null when no
 * subgraph is needed.
 * @throws Refusal for what the client is to change; anything else when it has no plan, and then the next planner is asked
 */
export type PlanText = (text: string) => Promise<PlanNode | null>
