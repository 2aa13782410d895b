/** @throws always: it runs plans of another planner */
export function executeQueryPlan(..._arguments: unknown[]): never {
  throw new Error('executeQueryPlan runs plans of @apollo/query-planner, which this package does not: call the gateway itself, or `createEngine`.')
}

/** @throws always: what it makes is for `executeQueryPlan` alone */
export function buildOperationContext(..._arguments: unknown[]): never {
  throw new Error('buildOperationContext makes what executeQueryPlan of @apollo/gateway takes, which this package does not have: see `createEngine`.')
}
