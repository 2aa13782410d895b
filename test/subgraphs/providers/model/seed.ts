import type { Supergraph } from '../../../kit/supergraph.ts'

/** What the launcher was told, or is to be, in order. */
export const factsToLauncher = (graph: Supergraph) =>
  graph.rows<{ kind: string; body: Record<string, unknown> }>(
    `select kind, body from providers.facts where receiver = 'launcher' and kind like 'attention.%' order by seq`,
  )
