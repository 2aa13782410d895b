import type { Pool } from 'pg'

/**
 * Opens a bounded pool of plain connections to a subgraph's database, for libraries that bring their own SQL. Statements, locks
 * and silence have their time; `end()` is bounded too.
 */
export type OpenPool = (options: {
  /** What it is for: the server shows it. */
  readonly name: string
  /** Connections at most. */
  readonly poolSize: number
  /** SQL schema in which unqualified names are looked up. @default the server's */
  readonly schema?: string
}) => Pool
