import type { Pool } from 'pg'

/** Purposes of database connections; one place assigns the number of each. */
export type Use = 'requests' | 'credentials' | 'jobs' | 'events'

/**
 * Opens a bounded pool of plain connections to a subgraph's database, for libraries with SQL of their own. Statements,
 * locks and idle transactions have time limits; `end()` is bounded too.
 * @throws when the process has no connections left for the purpose
 */
export type OpenPool = (options: {
  readonly use: Use
  /** Name of the owner, which the server shows. */
  readonly name: string
  /** SQL schema for unqualified names. @default the server's */
  readonly schema?: string
}) => Pool
