import type { Pool } from 'pg'

/** What connections to the database are for; one place hands out how many each use gets. */
export type Use = 'requests' | 'credentials' | 'jobs' | 'events'

/**
 * Opens a bounded pool of plain connections to a subgraph's database, for libraries that bring their own SQL. Statements, locks
 * and silence have their time; `end()` is bounded too.
 * @throws when the process has no connections left for it
 */
export type OpenPool = (options: {
  readonly use: Use
  /** Whose it is: the server shows it. */
  readonly name: string
  /** SQL schema in which unqualified names are looked up. @default the server's */
  readonly schema?: string
}) => Pool
