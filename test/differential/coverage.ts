import type { PlanNode } from '@graphql-hive/router-query-planner'

/** What the operations of a run exercised. */
export interface Coverage {
  operations: number
  /** Operations whose plan has a node of the kind. */
  readonly nodes: Record<string, number>
  readonly directives: { skip: number; include: number; defer: number }
  /** Operations that three subgraphs or more answer together. */
  threeSubgraphs: number
  errors: number
  /** Refused by the planner: said so to the client, never answered wrongly. */
  unplanned: number
}

export const newCoverage = (): Coverage => ({
  operations: 0,
  nodes: {},
  directives: { skip: 0, include: 0, defer: 0 },
  threeSubgraphs: 0,
  errors: 0,
  unplanned: 0,
})

/** Counts one operation. */
export function count(coverage: Coverage, source: string, plans: readonly PlanNode[], hasErrors: boolean): void {
  const { kinds, subgraphs } = look(plans)
  coverage.operations++
  for (const kind of kinds) coverage.nodes[kind] = (coverage.nodes[kind] ?? 0) + 1
  for (const name of ['skip', 'include', 'defer'] as const) if (source.includes(`@${name}`)) coverage.directives[name]++
  if (subgraphs.size >= 3) coverage.threeSubgraphs++
  if (hasErrors) coverage.errors++
}

function look(plans: readonly PlanNode[]): { readonly kinds: Set<string>; readonly subgraphs: Set<string> } {
  const kinds = new Set<string>()
  const subgraphs = new Set<string>()
  const visit = (node: PlanNode): void => {
    kinds.add(node.kind)
    if ('serviceName' in node) subgraphs.add(node.serviceName)
    if (node.kind === 'Sequence' || node.kind === 'Parallel') node.nodes.forEach(visit)
    if (node.kind === 'Flatten') visit(node.node)
    if (node.kind === 'Subscription') subgraphs.add(node.primary.serviceName)
  }
  plans.forEach(visit)
  // Root fields of a mutation are planned separately: together they are a sequence.
  if (plans.length > 1) kinds.add('Sequence')
  return { kinds, subgraphs }
}
