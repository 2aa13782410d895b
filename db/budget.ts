import { type Connections, connections } from '../config/connections.ts'
import type { Use } from '../platform/sql/pool.ts'

/** The connections that a process may have to one database. */
export interface Budget {
  /** Takes as many as a use gets. @throws when fewer are left: then `config/connections.ts` is to be thought over */
  take(use: Use, who: string): number
}

/** @param given how many, and who gets how much of them @default as `config/connections.ts` says */
export function createBudget({ most, each }: Connections = connections): Budget {
  let left = most
  return {
    take(use, who) {
      const wanted = each[use]
      if (wanted > left) throw new Error(`${who} is to have ${wanted} connections to the database, and ${left} of ${most} are left: see config/connections.ts`)
      left -= wanted
      return wanted
    },
  }
}
