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
  /** How often the queue has its turn, in ms. */
  readonly everyMs: number
}

/** Takes the jobs of one queue, each as soon as it is due and may run, and ends each by itself. */
export interface Poller {
  start(table: QueueTable): void
  /** Looks for work, unless a look is under way: its runner has all of its queues look in the same moment, so that one statement asks for all. */
  turn(): void
  /** Looks for work after so many ms, unless the next look or turn comes sooner. @param ms @default at once */
  wake(ms?: number): void
  /** When work was last looked for with success, on the clock `elapsed`. */
  readonly lastFinished: number
  /** Takes no more; resolves when nothing runs. */
  stop(): Promise<void>
  /** Gives back what still runs, for another process to take at once: this one is about to end. */
  release(): Promise<void>
}

/** How often a queue is looked at that nobody woke, in ms, unless its runner is a calm one: jobs of other processes, and those that fall due, are late by this at most. */
export const pollMs = 1_250
/** How long one look may take before another begins beside it, in ms. */
const lookMs = 12_000
/** How long a handler may take, in ms; the database counts a job as failed after the same time. */
export const handleMs = 60_000
/** How often the database is told that running jobs are alive, in ms: well within the 10 s after which it stops believing it. */
const beatMs = 4_000
/** How many jobs of a queue, and of one group, one process runs at once unless the queue says otherwise. */
const atOnce = { all: 32, group: 4 }
/** The least time for which a job is put back, in ms: one that always asks for "now" must not run without a pause. */
const leastPauseMs = 25

export function createPoller({ boss, queue, clock, elapsed, mayRun, tracing, log, everyMs }: PollerOptions): Poller {
  const { name } = queue
  const most = queue.concurrency ?? atOnce.all
  const groups = queue.groupOf && { groupConcurrency: queue.perGroup ?? atOnce.group }
  const running = new Map<string, Job>()
  let lastFinished = elapsed()
  let over = false
  let looking = false
  /** The look under way, whatever is waited for: what it takes still has to be run. */
  let taking: Promise<void> | undefined
  let full = false
  let timer: unknown
  /** When the next look is due that somebody asked for, on the clock `elapsed`. */
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
      const span =
        trace === undefined
          ? undefined
          : tracing?.begin(`process ${name}`, 'consumer', trace, {
              'messaging.system': 'pg-boss',
              'messaging.operation.type': 'process',
              'messaging.destination.name': name,
              'messaging.message.id': job.id,
            })
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
      await fail(job, error).catch(failure => log.error({ err: failure, queue: name }, 'job result could not be stored'))
    }
    running.delete(job.id)
    if (running.size === 0) {
      clock.clearInterval(beat)
      beat = undefined
      idle?.()
    }
    if (full || groups) wake()
  }

  /** Puts a job back to its time by the clock of this process, whatever the database's clock says. */
  async function reschedule(job: Job, again: Date): Promise<void> {
    const ms = Math.max(again.getTime() - clock.now(), leastPauseMs)
    // The new job is sent before the old one is completed: a crash in between leaves one too many, never none. A newer job with the same
    // key stays as it is.
    await boss.send(name, job.data, { startAfter: ms / 1000, singletonKey: job.singletonKey!, ...(job.groupId && { group: { id: job.groupId } }) })
    await boss.complete(name, job)
    wake(ms)
  }

  async function fail(job: Job, error: unknown): Promise<void> {
    const newer = await boss.findJobs(name, { key: job.singletonKey!, queued: true })
    if (newer.length > 0) await boss.complete(name, job)
    else await boss.fail(name, job, { message: error instanceof Error ? error.message : String(error) })
  }

  function touch(): void {
    boss.touch(name, [...running.values()]).catch(error => log.warn({ err: error, queue: name }, 'heartbeat of running jobs failed'))
  }

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
