import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { DomainError } from '../../../../platform/errors.ts'
import type { AskPlanner } from '../plan-text.ts'
import { createProcesses } from './idle.ts'
import { Died, type PlannerProcess, Stopped } from './process.ts'
import { createQueue, type Task } from './queue.ts'

export interface PoolOptions {
  start(): PlannerProcess
  /** Maximum number of processes that plan at the same time. */
  readonly atOnce: number
  /** Number of processes that stay when there is nothing to plan. */
  readonly staying: number
  /** Milliseconds after which further idle processes end. */
  readonly idleMs: number
  /** Maximum number of waiting operations: of one caller, and in all. */
  readonly waiting: { readonly each: number; readonly all: number }
  /** Milliseconds that an operation waits for a process at most. */
  readonly timeoutMs: number
  /** Milliseconds that planning one operation may take. */
  readonly planMs: number
  readonly log: Pick<Logger, 'warn'>
  /** Called for each operation whose planning exceeded a limit. */
  readonly stopped?: (() => void) | undefined
  /** Milliseconds of a monotonic clock. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
}

/**
 * Processes that plan operations. Callers take turns: the caller with the least planning time of late comes first, and
 * has one operation planned at a time.
 */
export interface Pool {
  readonly ask: AskPlanner
  /** Starts a process before the first operation needs one. @throws Error when it cannot read the supergraph */
  ready(): Promise<void>
  /** Process ids, for tests. */
  pids(): readonly number[]
  /** Ends every idle process, and the busy ones when they have finished. */
  retire(): void
  /** Ends all processes; waiting operations are rejected. */
  close(): Promise<void>
}

/** Number of attempts for an operation whose process ends while planning it. */
const lives = 2
/** Pause in ms after a process could not be started. */
const pauseMs = 250
/**
 * Operations whose planning exceeded a limit are rejected at once for some ms; a maximum number of them is remembered.
 */
const remembered = { most: 1000, ms: 60_000 }
export function createPool(options: PoolOptions): Pool {
  const { atOnce, waiting: bounds, planMs, log, now = () => performance.now() } = options
  const processes = createProcesses(options)
  const queue = createQueue(now)
  const refused = new LRUCache<string, () => Error>({ max: remembered.most, ttl: remembered.ms, ttlResolution: 0, perf: { now } })
  /** Whether none is to be started for a moment. */
  let pausing = false
  let closed = false

  const proceed = () => {
    while (!closed && (processes.idle > 0 || (processes.size < atOnce && !pausing))) {
      const chosen = queue.next()
      if (!chosen) return
      queue.take(chosen.task)
      void run(chosen.task, chosen.payer)
    }
  }

  const run = async (task: Task, payer: string) => {
    const process = processes.take()
    let began = now()
    let isReady = false
    queue.planning.add(payer)
    try {
      await process.ready
      isReady = true
      began = now()
      queue.settle(task, await process.plan(task.texts, planMs, task.active))
    } catch (cause) {
      if (closed) queue.fail(task, leaving())
      else if (!isReady && (cause instanceof Died || cause instanceof Stopped)) postpone(task, cause)
      else if (cause instanceof Stopped) {
        log.warn({ characters: task.texts.join('').length, limit: cause.message }, 'planner stopped: planning an operation took too long')
        options.stopped?.()
        refused.set(task.key, tooDear)
        queue.fail(task, tooDear())
      } else if (cause instanceof Died) lost(task, cause)
      else queue.fail(task, cause as Error)
    } finally {
      queue.charge(payer, began)
      queue.planning.delete(payer)
      processes.give(process)
      proceed()
    }
  }

  /** Handles a task whose process has ended: another process may plan it, unless this operation is what ends them. */
  const lost = (task: Task, cause: Died) => {
    log.warn({ err: cause }, 'planner ended unexpectedly')
    task.lives -= 1
    if (task.lives > 0) queue.wait(task, options.timeoutMs, busy)
    else {
      refused.set(task.key, () => new Error(`Planners end over this operation: ${cause.message}`))
      queue.fail(task, cause)
    }
  }

  /**
   * Puts a task back whose process ended before it could plan, which is not the operation's fault: it waits for another
   * process, running or starting.
   */
  const postpone = (task: Task, cause: Error) => {
    log.warn({ err: cause }, 'planner did not start')
    queue.wait(task, task.startBy - performance.now(), unstarted)
    if (pausing) return
    pausing = true
    setTimeout(() => {
      pausing = false
      proceed()
    }, pauseMs).unref()
  }

  return {
    async ask(texts, askers, active = []) {
      askers.onJoin(proceed)
      const hash = createHash('sha256').update(texts.join('\n'))
      if (active.length > 0) hash.update(`\n${JSON.stringify(active)}`)
      const key = hash.digest('base64')
      const known = queue.underway.get(key)
      if (known) {
        known.askers.push(askers)
        proceed()
        return known.made.promise
      }
      if (closed) throw leaving()
      const why = refused.get(key)
      if (why) throw why()
      if (queue.size >= bounds.all || queue.waitingOf(askers) >= bounds.each) throw busy()
      const task: Task = {
        key,
        texts,
        active,
        askers: [askers],
        made: Promise.withResolvers(),
        patience: undefined,
        startBy: performance.now() + options.timeoutMs,
        lives,
      }
      queue.underway.set(key, task)
      queue.wait(task, options.timeoutMs, busy)
      proceed()
      return task.made.promise
    },
    ready: processes.ready,
    pids: processes.pids,
    retire: processes.retire,
    async close() {
      closed = true
      queue.close(leaving)
      await processes.close()
    },
  }
}

const tooDear = () => new DomainError('BAD_USER_INPUT', 'The operation takes too long to plan; ask for less at once.')
const busy = () => new DomainError('RATE_LIMITED', 'Too many new operations are waiting to be planned: try again in a moment.', { retryAfter: 1 })
const unstarted = () => new DomainError('UPSTREAM_FAILED', 'No process can be started at the moment that plans the operation; try again in a moment.')
const leaving = () => new DomainError('UPSTREAM_FAILED', 'The operation was ended before it was planned.')
