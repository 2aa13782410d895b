import type { Clock, JobWithMetadata, PgBoss } from 'pg-boss'
import type { Logger } from 'pino'
import { doFor, splitCause } from '../caller/cause.ts'
import { finished, type Tracing } from '../caller/trace.ts'
import { type Elapsed, within } from './deadline.ts'
import type { JobData, JobQueue } from './queue.ts'
import type { QueueTable } from './queue-table.ts'

type Job = JobWithMetadata<Record<string, string>>

export interface PollerOptions {
  readonly boss: PgBoss
  readonly queue: JobQueue
  readonly clock: Clock
  readonly elapsed: Elapsed
  readonly mayRun: () => boolean
  readonly tracing?: Tracing | undefined
  readonly log: Logger
  /** Interval in ms of the queue's turns. */
  readonly everyMs: number
}

/** Takes the jobs of one queue, each as soon as it is due and may run, and completes each separately. */
export interface Poller {
  start(table: QueueTable): void
  /**
   * Polls for jobs, unless a poll is in progress: a runner polls all its queues in the same moment, with one statement.
   */
  turn(): void
  /** Polls after a number of ms, unless a poll comes sooner. @param ms @default at once */
  wake(ms?: number): void
  /** When the last successful poll ended, on the clock `elapsed`. */
  readonly lastFinished: number
  /** Takes no more jobs; resolves when none runs. */
  stop(): Promise<void>
  /** Returns running jobs to the queue, for another process to take at once, because this one is about to end. */
  release(): Promise<void>
}

/** Default polling interval in ms: the maximum delay of jobs that other processes sent, and of jobs that become due. */
export const pollMs = 1_250
/** Time limit in ms of one poll; after it another one begins. */
const lookMs = 12_000
/** Time limit in ms of a handler; the database counts the job as failed after the same time. */
export const handleMs = 60_000
/** Interval in ms of heartbeats for running jobs: well within the 10 s after which the database counts them as lost. */
const beatMs = 4_000
/** Default maximum of concurrent jobs in one process, of a queue and of one group. */
const atOnce = { all: 32, group: 4 }
/** Minimum pause in ms of a rescheduled job, so that a handler that always asks for "now" does not run continuously. */
const leastPauseMs = 25

export function createPoller({ boss, queue, clock, elapsed, mayRun, tracing, log, everyMs }: PollerOptions): Poller {
  const { name } = queue
  const most = queue.concurrency ?? atOnce.all
  const groups = queue.groupOf && { groupConcurrency: queue.perGroup ?? atOnce.group }
  const running = new Map<string, Job>()
  let lastFinished = elapsed()
  let over = false
  let looking = false
  /** The poll in progress; it is awaited at the end, because the jobs that it takes still have to run. */
  let taking: Promise<void> | undefined
  let full = false
  let timer: unknown
  /** When the next requested poll is due, on the clock `elapsed`. */
  let due = Number.POSITIVE_INFINITY
  let table: QueueTable | undefined
  let beat: unknown
  let idle: (() => void) | undefined

  const arm = () => {
    clock.clearTimeout(timer)
    // The caller is in the middle of other work, so polling starts in a later turn.
    if (!over && due < Number.POSITIVE_INFINITY) timer = doFor(null, () => clock.setTimeout(() => void look(), Math.max(0, due - elapsed())))
  }
  const wake = (ms = 0) => {
    const at = elapsed() + ms
    // Before the start nothing can be polled, and the start polls at once.
    if (over || !table || ms > everyMs || at >= due) return
    due = at
    if (!looking) arm()
  }

  async function look(): Promise<void> {
    looking = true
    clock.clearTimeout(timer)
    due = Number.POSITIVE_INFINITY
    try {
      taking = take(table!)
      await within(clock, lookMs, `looking for jobs of ${name}`, taking)
      lastFinished = elapsed()
    } catch (error) {
      log.error({ err: error, queue: name }, 'polling for jobs failed; it will be retried')
    }
    looking = false
    arm()
  }

  async function take(table: QueueTable): Promise<void> {
    const free = most - running.size
    full = free <= 0
    if (full || !mayRun()) return
    const ms = await table.msUntilDue(name)
    if (over) return
    if (ms === null || ms > 0) return void (ms !== null && ms < everyMs && wake(ms))
    const jobs = await boss.fetch<Record<string, string>>(name, { batchSize: free, includeMetadata: true, ...groups })
    full = jobs.length === free
    for (const job of jobs) {
      const { cause, trace, data } = splitCause(job.data)
      const span = trace === undefined ? undefined : beginJob(tracing, name, job.id, trace)
      const work = () => run(job as Job, data)
      void doFor({ queue: name, job: job.id, ...cause }, () => (span ? finished(span, work) : work()))
    }
  }

  async function run(job: Job, data: JobData): Promise<void> {
    running.set(job.id, job)
    beat ??= doFor(null, () => clock.setInterval(touch, beatMs))
    try {
      const outcome = await within(clock, handleMs, `a job of ${name}`, queue.handle(data))
      if (outcome?.again) await reschedule(job, outcome.again)
      else await boss.complete(name, job)
    } catch (error) {
      log.error({ err: error, queue: name, job: job.id, data }, 'job failed')
      // If this fails too, the missing heartbeat ends the job.
      await failJob(boss, name, job, error).catch(failure => log.error({ err: failure, queue: name }, 'job result could not be stored'))
    }
    running.delete(job.id)
    if (running.size === 0) {
      clock.clearInterval(beat)
      beat = undefined
      idle?.()
    }
    if (full || groups) wake()
  }

  /** Reschedules a job by the clock of this process, whatever the database's clock says. */
  async function reschedule(job: Job, again: Date): Promise<void> {
    const ms = Math.max(again.getTime() - clock.now(), leastPauseMs)
    // The new job is sent before the old one is completed: a crash in between leaves one too many, never none. A newer job with the same
    // key stays as it is.
    await boss.send(name, job.data, { startAfter: ms / 1000, singletonKey: job.singletonKey!, ...(job.groupId && { group: { id: job.groupId } }) })
    await boss.complete(name, job)
    wake(ms)
  }

  const touch = () => void boss.touch(name, [...running.values()]).catch(error => log.warn({ err: error, queue: name }, 'heartbeat of running jobs failed'))

  return {
    wake,
    get lastFinished() {
      return lastFinished
    },
    start(opened) {
      table = opened
      void look()
    },
    turn() {
      if (table && !looking && !over) void look()
    },
    async release() {
      await Promise.all([...running.values()].map(job => reschedule(job, new Date(clock.now()))))
    },
    async stop() {
      over = true
      clock.clearTimeout(timer)
      await taking?.catch(() => {})
      if (running.size > 0) await new Promise<void>(resolve => (idle = resolve))
      clock.clearInterval(beat)
    },
  }
}

/** Begins the span of a job, below the trace of its sender. */
const beginJob = (tracing: Tracing | undefined, queue: string, id: string, trace: string) =>
  tracing?.begin(`process ${queue}`, 'consumer', trace, {
    'messaging.system': 'pg-boss',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'messaging.message.id': id,
  })

/** Counts a job as failed, unless a newer one with its key waits. */
async function failJob(boss: PgBoss, name: string, job: Job, error: unknown): Promise<void> {
  const newer = await boss.findJobs(name, { key: job.singletonKey!, queued: true })
  if (newer.length > 0) await boss.complete(name, job)
  else await boss.fail(name, job, { message: error instanceof Error ? error.message : String(error) })
}
