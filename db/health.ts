import type { Logger } from 'pino'
import { QueryTypes, type Sequelize } from 'sequelize'
import type { Clock } from '../platform/clock.ts'
import { checkSessions } from './connect.ts'
import { watchClock } from './health/clock-watch.ts'
import { watchSchema } from './health/schema-watch.ts'
import { createWriteProbe } from './health/write-probe.ts'
import { migrationCheck } from './migrate.ts'

/** Checks of the database for readiness, and whether jobs may run. */
export interface DatabaseWatch {
  /** Readiness checks; each rejects while its part does not work. */
  readonly readiness: readonly { readonly name: string; check(): Promise<void> }[]
  mayRun(): boolean
  stop(): void
}

export interface WatchedDatabase {
  readonly sequelize: Sequelize
  /** The folder of the migrations. */
  readonly migrations: string
  /** Checks the sessions of other pools. @default there are none */
  readonly checkPools?: () => Promise<void>
  readonly log: Logger
  /** The machine's clock. @default the system's */
  readonly clock?: Clock
}

/** Interval of checks of migrations and clocks, in ms. */
const everyMs = 5_000

const clockSql = 'select extract(epoch from clock_timestamp()) * 1000 as ms'

/**
 * Watches a database that was just migrated: it answers, connections keep their sessions, it accepts writes, no newer
 * program has migrated it, and its clock agrees with ours. The clocks are compared before this resolves, so before jobs
 * begin.
 */
export async function watchDatabase({ sequelize, migrations, checkPools = async () => {}, log, clock }: WatchedDatabase): Promise<DatabaseWatch> {
  const read = <Row extends object>(sql: string) => sequelize.query<Row>(sql, { type: QueryTypes.SELECT })
  const agrees = migrationCheck(migrations)
  const schema = watchSchema(() => agrees(read), log)
  const time = watchClock(async () => Number((await read<{ ms: string }>(clockSql))[0]!.ms), log, clock)
  const writes = createWriteProbe(sql => sequelize.query(sql))
  const look = () => Promise.allSettled([schema.check(), time.check()])
  // A clock counts as wrong until the first comparison.
  await time.check().catch(() => {})
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return {
    readiness: [
      { name: 'database', check: () => checkSessions(sequelize, checkPools) },
      { name: 'writes', check: writes },
      { name: 'migrations', check: schema.check },
      { name: 'clock', check: time.check },
    ],
    mayRun: () => schema.isOurs() && time.agrees(),
    stop: () => clearInterval(timer),
  }
}
