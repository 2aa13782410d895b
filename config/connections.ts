import type { Use } from '../platform/sql/pool.ts'

export interface Connections {
  /** Of one process to one database, all uses together. */
  readonly most: number
  /** How many each taker of a use gets: one takes for requests, one for credentials, one for events, and each job runner for itself. */
  readonly each: Readonly<Record<Use, number>>
}

/** Divides the database connections that a process may open; the only place that does. */
export const connections: Connections = { most: 30, each: { requests: 10, credentials: 4, jobs: 5, events: 1 } }
