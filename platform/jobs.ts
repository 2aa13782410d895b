import { type Clock as JobClock, PgBoss, systemClock as systemJobClock } from 'pg-boss'
import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'

/** A wake-up: it carries an id, never a copy of the row it is about. The row is the only truth. */
export interface Jobs {
  /**
   * Adds a wake-up in the transaction that makes it necessary: no commit, no job.
   * @param options.startAfter not before this moment @default at once
   */
  enqueue(queue: string, data: JobData, options?: { transaction?: Transaction; startAfter?: Date }): Promise<void>
  /** Starts taking work and sweeping. */
  start(): Promise<void>
  /** Stops taking work, waits at most 5 s for what runs; safe to call twice. */
  stop(): Promise<void>
}

export type JobData = Readonly<Record<string, string>>

/** What happens on a wake-up. It may come twice, late, or for a row that has moved on: the handler looks. */
export interface JobQueue {
  readonly name: string
  /** A thrown error makes the wake-up come again, at most three times; after that the sweep is what finds the row. */
  handle(data: JobData): Promise<void>
}

/** Work that is looked for rather than sent: runs every so many milliseconds in each process, never twice at a time. */
export interface Sweep {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

export interface JobPlan {
  readonly slug: string
  readonly queues: readonly JobQueue[]
  readonly sweeps: readonly Sweep[]
  readonly log: Logger
}

/** Opens the job runner of one subgraph: pg-boss in the schema `<slug>_jobs` of that subgraph's database. */
export type OpenJobs = (plan: JobPlan) => Jobs

/**
 * The shipped settings. A worker that is killed leaves its job active: its missing heartbeat is noticed after 10 s (the
 * least pg-boss takes), looked for every 5 s. pg-boss looks only once a minute by default, which would gate everything.
 */
const settings = {
  queue: { expireInSeconds: 60, heartbeatSeconds: 10, retryLimit: 3, retryDelay: 1, retentionSeconds: 400 * 24 * 3600, deleteAfterSeconds: 3600 },
  boss: { superviseIntervalSeconds: 5, monitorIntervalSeconds: 5, maintenanceIntervalSeconds: 3600, schedule: false, persistQueueStats: false },
  // Four pollers of five jobs: one delivery that waits for a slow network holds back nobody else's due time.
  work: { pollingIntervalSeconds: 0.5, localConcurrency: 4, batchSize: 5, perJobResults: true },
} as const

/**
 * Makes the opener of job runners on one database.
 * @param connectionString PostgreSQL URL
 * @param poolSize         connections of each runner
 * @param clock            time and timers of queues and sweeps; a test's own stands still until it is moved @default the system's
 */
export function createOpenJobs(connectionString: string, poolSize: number, clock: JobClock = systemJobClock): OpenJobs {
  return ({ slug, queues, sweeps, log }) => {
    const boss = new PgBoss({ connectionString, schema: `${slug}_jobs`, max: poolSize, application_name: `${slug}-jobs`, clock, ...settings.boss })
    boss.on('error', error => log.error({ err: error }, 'the job runner met an error'))
    let started: Promise<void> | undefined
    let stopped = false
    const timers: unknown[] = []
    const running = new Set<Promise<void>>()

    const takeWork = (queue: JobQueue) =>
      boss.work<Record<string, string>, unknown, typeof settings.work>(queue.name, settings.work, jobs =>
        Promise.all(
          jobs.map(async job => {
            try {
              await queue.handle(job.data)
              return { id: job.id, status: 'completed' as const }
            } catch (error) {
              log.error({ err: error, queue: queue.name, job: job.id, data: job.data }, 'a job failed')
              return { id: job.id, status: 'failed' as const, output: { message: error instanceof Error ? error.message : String(error) } }
            }
          }),
        ),
      )

    const startSweep = (sweep: Sweep) => {
      let busy = false
      const round = async () => {
        if (busy || stopped) return
        busy = true
        try {
          await sweep.run()
        } catch (error) {
          log.error({ err: error, sweep: sweep.name }, 'a sweep failed; the next round tries again')
        } finally {
          busy = false
        }
      }
      const run = () => {
        const one = round().finally(() => running.delete(one))
        running.add(one)
      }
      run()
      timers.push(clock.setInterval(run, sweep.everyMs))
    }

    return {
      async enqueue(queue, data, { transaction, startAfter } = {}) {
        const connection = transaction && (transaction as unknown as { connection: SqlRunner }).connection
        await boss.send(queue, data, {
          ...(startAfter && { startAfter }),
          ...(connection && { db: { executeSql: (text: string, values?: unknown[]) => connection.query(text, values) } }),
        })
      },
      start() {
        started ??= (async () => {
          await boss.start()
          for (const queue of queues) {
            await boss.createQueue(queue.name, settings.queue)
            await takeWork(queue)
          }
          for (const sweep of sweeps) startSweep(sweep)
        })()
        return started
      },
      async stop() {
        if (stopped) return
        stopped = true
        for (const timer of timers) clock.clearInterval(timer)
        if (!started) return
        await started.catch(() => {})
        await Promise.allSettled(running)
        await boss.stop({ graceful: true, timeout: 5000 })
      },
    }
  }
}

/** What Sequelize's transaction holds: pg's client, so that a job is written in the same transaction. */
interface SqlRunner {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}
