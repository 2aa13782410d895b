import type { Logger } from 'pino'
import { QueryTypes, type Sequelize } from 'sequelize'
import { migrationCheck } from './migrate.ts'
import { watchSchema } from './schema-watch.ts'
import { createWriteProbe } from './write-probe.ts'

/** What a process asks of its database before it takes requests, and whether its jobs may run. */
export interface DatabaseWatch {
  /** Each rejects while it does not work. */
  readonly readiness: readonly { readonly name: string; check(): Promise<void> }[]
  mayRun(): boolean
  stop(): void
}

/** Watches a database that was just migrated: that it answers, that it takes writes, and that no newer program moves it on. */
export function watchDatabase({ sequelize, migrations, log }: { sequelize: Sequelize; migrations: string; log: Logger }): DatabaseWatch {
  const agrees = migrationCheck(migrations)
  const schema = watchSchema(() => agrees(sql => sequelize.query(sql, { type: QueryTypes.SELECT })), log)
  const writes = createWriteProbe(sql => sequelize.query(sql))
  return {
    readiness: [
      { name: 'database', check: () => sequelize.query('select 1').then(() => {}) },
      { name: 'writes', check: writes },
      { name: 'migrations', check: schema.check },
    ],
    mayRun: schema.isOurs,
    stop: schema.stop,
  }
}
