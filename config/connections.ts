import type { Use } from '../platform/sql/pool.ts'

export interface Connections {
  /** Of one process to one database, all uses together. */
  readonly most: number
  /** How many each taker of a use gets: one takes for requests, one for credentials, one for events, and each job runner for itself. */
  readonly each: Readonly<Record<Use, number>>
}

/** What one process may have open to its database, and who gets how much of it: the one place that says so. */
export const connections: Connections = { most: 30, each: { requests: 10, credentials: 4, jobs: 5, events: 1 } }
