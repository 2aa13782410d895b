import { type Connections, connections } from '../config/connections.ts'
import type { Use } from '../platform/sql/pool.ts'

/** Connections that a process may open to one database. */
export interface Budget {
  /**
   * Takes the connections of a use. @throws Error when fewer are left: then the numbers in `config/connections.ts` need
   * a change
   */
  take(use: Use, who: string): number
}

/** @param given number of connections, and their division @default as in `config/connections.ts` */
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
