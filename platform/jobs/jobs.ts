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

/** A wake-up: it carries an id, never a copy of the row it is about. The row is the only truth. */
export interface Jobs {
  /**
   * Adds a wake-up in the transaction that makes it necessary: no commit, no job.
   * @param options.startAfter not before this moment @default at once
   * @param options.key        at most one wake-up with this key is waiting: sent again, it is moved to the new time
   */
  enqueue(queue: string, data: JobData, options?: { transaction?: Transaction; startAfter?: Date; key?: string }): Promise<void>
  /** Takes back the wake-up with this key, if one is waiting; one that runs already goes on. */
  cancel(queue: string, key: string, options?: { transaction?: Transaction }): Promise<void>
  /** Starts taking work and sweeping. */
  start(): Promise<void>
  /** Rejects while the queues and sweeps do not run, with a `NotReady` that names those that are late: asked by readiness. */
  check(): Promise<void>
  /** Stops taking work, waits at most 2.5 s for what runs, and gives back what has not ended by then; safe to call twice. */
  stop(): Promise<void>
}

export interface JobPlan {
  readonly slug: string
  readonly queues: readonly JobQueue[]
  readonly sweeps: readonly Sweep[]
  readonly log: Logger
  /**
   * Whether its jobs are sent for at once, and by processes that run them: those hear of each without looking. Then queues are looked at
   * every five seconds, and pg-boss supervises them twice a minute: for what was left by others that ended. @default false
   */
  readonly calm?: boolean
}

/**
 * Opens the job runner of one subgraph: pg-boss in the schema `<slug>_jobs` of that subgraph's database. One without queues only sweeps:
 * it needs neither schema nor connections, and costs no statement but those of its sweeps.
 */
export type OpenJobs = (plan: JobPlan) => Jobs

/**
 * The shipped settings. A worker that is killed leaves its job active: its missing heartbeat is noticed after 10 s (the
 * least pg-boss takes), looked for every 10 s. pg-boss looks only once a minute by default, which would gate everything.
 * Jobs that ended are kept for ten minutes, for whoever looks into an accident.
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
  calmBoss: { superviseIntervalSeconds: 30, monitorIntervalSeconds: 30 },
} as const

/** How often a queue of a calm runner is looked at that nobody woke, in ms. */
const calmMs = 5_000
/** How long work that runs has to end when the platform stops, in ms. */
const stopMs = 2_500
/** How long giving back what has not ended by then may take, in ms. */
const giveBackMs = 500
/** How long past its turn a queue or sweep may be before readiness tells of it, in ms. */
const lateMs = 15_000

/** How many jobs of a queue are in one state. */
export interface JobCount {
  readonly queue: string
  readonly state: JobState
  readonly jobs: number
}

/** Is handed, when a runner with queues is opened, what counts its jobs. */
export type WatchJobs = (slug: string, count: () => Promise<readonly JobCount[]>) => void

/** What job runners stand on. */
export interface JobDeps {
  readonly openPool: OpenPool
  /** Time and timers of queues and sweeps; a test's own stands still until it is moved. @default the system's */
  readonly clock?: JobClock
  /** Asked before each look for work: while it says no, nothing is taken and no sweep goes round. @default always */
  mayRun?(): boolean
  /** Until this resolves, started runners take wake-ups but run none, and no sweep goes round. @default at once */
  readonly mayBegin?: Promise<void>
  readonly watch?: WatchJobs
  /** Goes on with the trace of what made a job necessary. @default nobody does */
  readonly tracing?: Tracing | undefined
}

/** Makes the opener of job runners on one database. */
export function createOpenJobs({ openPool, clock = systemJobClock, mayRun = () => true, mayBegin, watch, tracing }: JobDeps): OpenJobs {
  // The wall clock may be set, so how long something takes is measured on one that only goes forward; a test's clock is both.
  const elapsed: Elapsed = 'attach' in clock ? () => clock.now() : () => performance.now()
  return ({ slug, queues, sweeps, log, calm = false }) => {
    const everyMs = calm ? calmMs : pollMs
    const schema = `${slug}_jobs`
    // A subgraph with sweeps only needs no pg-boss, and so none of its connections.
    const pool = queues.length > 0 ? openPool({ use: 'jobs', name: schema }) : null
    const boss = new PgBoss({ db: pool ? databaseOn(pool) : noDatabase, schema, clock, ...settings.boss, ...(calm && settings.calmBoss) })
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

/** The pool in the form in which pg-boss takes one. */
function databaseOn(pool: Pool) {
  return {
    executeSql: (text: string, values?: unknown[]) => pool.query(text, values),
    // Only a test's clock is asked for before the first statement.
    async setSessionStatements(statements: string[]) {
      pool.options.onConnect = async client => {
        for (const statement of statements) await client.query(statement)
      }
    },
  }
}

/** What Sequelize's transaction holds: pg's client, so that a job is written in the same transaction. */
interface SqlRunner {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>
}

function runnerOf(transaction: Transaction) {
  const { connection } = transaction as unknown as { connection: SqlRunner }
  return { executeSql: (text: string, values?: unknown[]) => connection.query(text, values) }
}
