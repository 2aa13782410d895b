import type { Pool } from 'pg'
import type { Sequelize } from 'sequelize'
import type { OpenPool } from '../../platform/sql/pool.ts'
import type { Figure } from './figure.ts'

/** The parts of Sequelize's pool that its published types omit. */
interface SequelizePool {
  readonly size: number
  readonly available: number
  readonly using: number
  readonly waiting: number
}

/** Observes the connection pools of a process: those opened from now on, and Sequelize's. */
export function watchPools(open: OpenPool, sequelize: Sequelize): { readonly openPool: OpenPool; readonly figures: readonly Figure[] } {
  const pools = new Map<string, Pool>()
  const ofSequelize = () => (sequelize.connectionManager as unknown as { readonly pool: SequelizePool }).pool
  const states = (): readonly (readonly [pool: string, used: number, idle: number, waiting: number])[] => {
    const { using, available, waiting } = ofSequelize()
    return [
      ['requests', using, available, waiting],
      ...[...pools].map(([name, { totalCount, idleCount, waitingCount }]) => [name, totalCount - idleCount, idleCount, waitingCount] as const),
    ]
  }
  return {
    openPool(options) {
      const pool = open(options)
      pools.set(options.name, pool)
      return pool
    },
    figures: [
      {
        name: 'db_pool_connections',
        help: 'Connections to the database by pool, in use and idle.',
        labels: ['pool', 'state'],
        read: () =>
          states().flatMap(([pool, used, idle]) => [
            { labels: { pool, state: 'used' }, value: used },
            { labels: { pool, state: 'idle' }, value: idle },
          ]),
      },
      {
        name: 'db_pool_waiting',
        help: 'Who waits for a connection.',
        labels: ['pool'],
        read: () => states().map(([pool, , , waiting]) => ({ labels: { pool }, value: waiting })),
      },
    ],
  }
}
