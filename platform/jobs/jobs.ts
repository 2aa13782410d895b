import type { Pool } from 'pg'
import { type Clock as JobClock, PgBoss, systemClock as systemJobClock } from 'pg-boss'
import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'
import { doFor, withCause } from '../caller/cause.ts'
import type { Tracing } from '../caller/trace.ts'
import { NotReady } from '../errors.ts'
import { newId } from '../ids.ts'
import type { OpenPool } from '../sql/pool.ts'
import { type Elapsed, within } from './deadline.ts'
import { createPoller, handleMs, pollMs } from './poller.ts'
import type { JobData, JobQueue, Sweep } from './queue.ts'
import { countJobs, type JobState, openQueues } from './queue-table.ts'
import { createSweeper, roundMs } from './sweeper.ts'

/** Sends wake-ups. A wake-up carries an id, never a copy of the row; the row alone says what to do. */
export interface Jobs {
  /**
   * Adds a wake-up in the transaction that requires it: no commit, no job.
   * @param options.startAfter earliest time of the job @default at once
   * @param options.key        at most one wake-up with this key waits: sending another moves it to the new time
   */
  enqueue(queue: string, data: JobData, options?: { transaction?: Transaction; startAfter?: Date; key?: string }): Promise<void>
  /** Cancels the waiting wake-up with this key, if any; a running one continues. */
  cancel(queue: string, key: string, options?: { transaction?: Transaction }): Promise<void>
  /** Starts taking work and sweeping. */
  start(): Promise<void>
  /** Readiness check: rejects while queues and sweeps are late, with a `NotReady` that names them. */
  check(): Promise<void>
  /** Takes no more work, waits at most 2.5 s for running jobs, and returns the others to the queue. Idempotent. */
  stop(): Promise<void>
}

export interface JobPlan {
  readonly slug: string
  readonly queues: readonly JobQueue[]
  readonly sweeps: readonly Sweep[]
  readonly log: Logger
  /**
   * Slow polling, for queues whose jobs are sent by this process and due at once, so that each is known without
   * polling. Queues are then polled every five seconds, and pg-boss supervises them twice a minute, for jobs that ended
   * processes left. @default false
   */
  readonly slowPolling?: boolean
}

/**
 * Opens the job runner of one subgraph: pg-boss in the schema `<slug>_jobs` of that subgraph's database. A runner
 * without queues only sweeps: it needs neither schema nor connections, and no statements but those of its sweeps.
 */
export type OpenJobs = (plan: JobPlan) => Jobs

/**
 * Settings of pg-boss. A worker that is killed leaves its job active: its missing heartbeat is noticed after 10 s
 * (pg-boss's minimum), checked every 10 s; pg-boss's default of once a minute would delay everything. Ended jobs are
 * kept for ten minutes, to investigate failures.
 */
const settings = {
  queue: {
    expireInSeconds: handleMs / 1000,
    heartbeatSeconds: 10,
    retryLimit: 3,
    retryDelay: 1,
    retentionSeconds: 400 * 24 * 3600,
    deleteAfterSeconds: 600,
  },
  boss: {
    superviseIntervalSeconds: 10,
    monitorIntervalSeconds: 10,
    maintenanceIntervalSeconds: 300,
    // We have no jobs that depend on other jobs.
    flowIntervalSeconds: 3600,
    schedule: false,
    persistQueueStats: false,
  },
  slowPollingBoss: { superviseIntervalSeconds: 30, monitorIntervalSeconds: 30 },
} as const

/** Polling interval in ms of a queue with slow polling. */
const slowPollMs = 5_000
/** Time in ms that running jobs have to end when the platform stops. */
const stopMs = 2_500
/** Time limit in ms for returning the remaining jobs to the queue. */
const giveBackMs = 500
/** Lateness in ms of a queue or sweep from which readiness reports it. */
const lateMs = 15_000

/** Number of a queue's jobs in one state. */
export interface JobCount {
  readonly queue: string
  readonly state: JobState
  readonly jobs: number
}

/** Called when a runner with queues is opened, with a function that counts its jobs. */
export type WatchJobs = (slug: string, count: () => Promise<readonly JobCount[]>) => void

/** Dependencies of job runners. */
export interface JobDeps {
  readonly openPool: OpenPool
  /** Time and timers of queues and sweeps; a test's own stands still until it is moved. @default the system's */
  readonly clock?: JobClock
  /** Checked before each poll: while it returns false, no jobs are taken and no sweep runs. @default always true */
  mayRun?(): boolean
  /** Until it resolves, started runners accept wake-ups but run none, and no sweep runs. @default resolved */
  readonly mayBegin?: Promise<void>
  readonly watch?: WatchJobs
  /** Continues the trace of a job's cause. @default no traces */
  readonly tracing?: Tracing | undefined
}

/** Creates the function that opens job runners on one database. */
export function createOpenJobs({ openPool, clock = systemJobClock, mayRun = () => true, mayBegin, watch, tracing }: JobDeps): OpenJobs {
  // The wall clock may be set, so how long something takes is measured on one that only goes forward; a test's clock is both.
  const elapsed: Elapsed = 'attach' in clock ? () => clock.now() : () => performance.now()
  return ({ slug, queues, sweeps, log, slowPolling = false }) => {
    const everyMs = slowPolling ? slowPollMs : pollMs
    const schema = `${slug}_jobs`
    // A subgraph with sweeps only needs no pg-boss, and so none of its connections.
    const pool = queues.length > 0 ? openPool({ use: 'jobs', name: schema }) : null
    const boss = new PgBoss({ db: pool ? databaseOn(pool) : noDatabase, schema, clock, ...settings.boss, ...(slowPolling && settings.slowPollingBoss) })
    boss.on('error', error => log.error({ err: error }, 'job runner error'))
    boss.on('warning', warning => log.warn(warning, 'job runner warning'))
    const parts = { boss, clock, elapsed, log, mayRun, tracing, everyMs }
    const pollers = new Map(queues.map(queue => [queue.name, createPoller({ ...parts, queue })]))
    const sweepers = sweeps.map(sweep => ({ sweep, ...{ runner: createSweeper({ ...parts, sweep }) } }))
    let turns: unknown
    let started: Promise<void> | undefined
    let stopping: Promise<void> | undefined

    if (pool)
      watch?.(slug, () =>
        countJobs(
          databaseOn(pool),
          schema,
          queues.map(({ name }) => name),
        ),
      )
    const openTable = async () => {
      await boss.start()
      return openQueues(
        boss,
        schema,
        queues.map(({ name }) => name),
        settings.queue,
      )
    }
    const open = async () => {
      const table = queues.length > 0 ? await openTable() : null
      const begin = () => {
        if (stopping) return
        if (table) {
          for (const poller of pollers.values()) poller.start(table)
          turns = doFor(null, () => clock.setInterval(turn, everyMs))
        }
        for (const { runner } of sweepers) runner.start()
      }
      if (mayBegin) void mayBegin.then(begin)
      else begin()
    }
    const turn = () => {
      for (const poller of pollers.values()) poller.turn()
    }
    const end = async () => {
      clock.clearInterval(turns)
      const ended = Promise.all([...pollers.values(), ...sweepers.map(({ runner }) => runner)].map(runner => runner.stop()))
      await within(systemJobClock, stopMs, 'what runs', ended).catch(async () => {
        const released = Promise.all([...pollers.values()].map(poller => poller.release()))
        await within(systemJobClock, giveBackMs, 'giving back what runs', released).catch(error =>
          log.warn({ err: error }, 'running jobs left behind: another process takes them up when their heartbeat expires'),
        )
      })
      // Stopping queries the database, which may be what hangs.
      await within(systemJobClock, 500, 'pg-boss', boss.stop({ graceful: false })).catch(error => log.warn({ err: error }, 'job runner did not stop cleanly'))
      await pool?.end()
    }

    return {
      async enqueue(queue, data, { transaction, startAfter, key } = {}) {
        const group = queues.find(({ name }) => name === queue)?.groupOf?.(data)
        const options = { ...(group && { group: { id: group } }), ...(transaction && { db: runnerOf(transaction) }) }
        // Every job has a key, because the queue lets only one job without a key wait.
        if (key === undefined) await boss.send(queue, withCause(data), { ...options, singletonKey: newId(), ...(startAfter && { startAfter }) })
        else await boss.upsert(queue, withCause(data), { ...options, singletonKey: key, startAfter: startAfter ?? 0 })
        const ms = startAfter ? startAfter.getTime() - clock.now() : 0
        // A job that waits longer is found by a later poll in time.
        if (ms > everyMs) return
        const wake = () => pollers.get(queue)?.wake(Math.max(0, ms))
        if (transaction) transaction.afterCommit(wake)
        else wake()
      },
      async cancel(queue, key, { transaction } = {}) {
        const options = transaction ? { db: runnerOf(transaction) } : {}
        const waiting = await boss.findJobs(queue, { ...options, key, queued: true })
        if (waiting.length > 0)
          await boss.deleteJob(
            queue,
            waiting.map(({ id }) => id),
            options,
          )
      },
      start() {
        started ??= open()
        return started
      },
      async check() {
        if (!started) throw new NotReady('the job runner was not started')
        await started
        const now = elapsed()
        const late = [
          ...[...pollers].map(([name, poller]) => ({ name, ms: now - poller.lastFinished, everyMs })),
          ...sweepers.map(({ sweep, runner }) => ({
            name: sweep.name,
            ms: now - runner.lastFinished,
            everyMs: sweep.everyMs + (sweep.asksOthers ? roundMs : 0),
          })),
        ].filter(({ ms, everyMs }) => ms > everyMs + lateMs)
        if (late.length > 0) throw new NotReady(late.map(({ name, ms }) => `${name} last went round ${Math.round(ms / 1000)} s ago`).join(', '))
      },
      stop() {
        stopping ??= end()
        return stopping
      },
    }
  }
}

const noDatabase = { executeSql: () => Promise.reject(new Error('a job runner without queues keeps no jobs')) }

/** Wraps the pool in pg-boss's database interface. */
function databaseOn(pool: Pool) {
  return {
    executeSql: (text: string, values?: unknown[]) => pool.query(text, values),
    // Only a test's clock has statements to run before the first one.
    async setSessionStatements(statements: string[]) {
      pool.options.onConnect = async client => {
        for (const statement of statements) await client.query(statement)
      }
    },
  }
}

/** The parts of Sequelize's transaction with pg's client, so that a job is written in the same transaction. */
interface SqlRunner {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

function runnerOf(transaction: Transaction) {
  const { connection } = transaction as unknown as { connection: SqlRunner }
  return { executeSql: (text: string, values?: unknown[]) => connection.query(text, values) }
}
