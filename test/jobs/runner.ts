import { TestClock } from 'pg-boss'
import { pino } from 'pino'
import { createOpenPool } from '../../db/connect.ts'
import { createOpenJobs, type Jobs } from '../../platform/jobs/jobs.ts'
import type { JobQueue, Sweep } from '../../platform/jobs/queue.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { monday } from '../kit/time.ts'

/** A job runner on a database of its own, whose clock the test moves. */
export interface Runner extends AsyncDisposable {
  readonly database: TestDatabase
  readonly jobs: Jobs
  readonly clock: TestClock
  /** What was logged, one object a line. */
  readonly log: readonly Record<string, unknown>[]
  in(ms: number): Date
  rows<Row extends object = Record<string, unknown>>(sql: string, bind?: unknown[]): Promise<Row[]>
  /** Opens another runner on the same database and clock, as another process would. */
  another(queues: readonly JobQueue[]): Jobs
}

export async function runner(queues: readonly JobQueue[], sweeps: readonly Sweep[] = [], mayRun = () => true): Promise<Runner> {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await createTestDatabase())
  const name = new URL(database.url).pathname.slice(1)
  await database.sequelize.query(`alter database ${name} set pgboss.test_clock = 'on'`)
  await database.sequelize.query(`set pgboss.test_clock = 'on'`)
  const clock = new TestClock(monday)
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'debug' }, { write: line => void lines.push(JSON.parse(line)) })
  const open = (some: readonly JobQueue[], sweeping: readonly Sweep[], stack: AsyncDisposableStack) => {
    const jobs = createOpenJobs({ openPool: createOpenPool({ url: database.url, log }), clock, mayRun })({
      slug: 'publishing',
      queues: some,
      sweeps: sweeping,
      log,
    })
    stack.defer(() => jobs.stop())
    return jobs
  }
  const jobs = open(queues, sweeps, opening)
  const opened = opening.move()
  return {
    database,
    jobs,
    clock,
    log: lines,
    in: ms => new Date(clock.now() + ms),
    rows: async <Row extends object>(sql: string, bind: unknown[] = []) => (await database.sequelize.query(sql, { bind }))[0] as Row[],
    another: some => open(some, [], opened),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** A promise with its own hands, for handlers that a test lets end. */
export const gate = () => Promise.withResolvers<void>()
