import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { Refusal } from '../../../../platform/errors.ts'
import type { Askers, AskPlanner, Planned } from '../plan-text.ts'
import { Died, type PlannerProcess, Stopped } from './process.ts'

export interface PoolOptions {
  start(): PlannerProcess
  /** How many processes plan at the same time. */
  readonly atOnce: number
  /** How many of them stay when there is nothing to plan. */
  readonly staying: number
  /** Milliseconds after which the others end. */
  readonly idleMs: number
  /** Operations that may wait: of one caller, and of all. */
  readonly waiting: { readonly each: number; readonly all: number }
  /** Milliseconds that an operation waits at most. */
  readonly patienceMs: number
  /** Milliseconds that an operation may take to be planned. */
  readonly planMs: number
  readonly log: Pick<Logger, 'warn'>
  /** Told of each operation that took more than it may. */
  readonly stopped?: (() => void) | undefined
  /** Milliseconds of a clock that only goes forward. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
}

/** Processes that plan. Callers take turns: whoever made planners work least of late comes first, and plans one operation at a time. */
export interface Pool {
  readonly ask: AskPlanner
  /** Starts a process before anybody asks. @throws Error when it cannot read the supergraph */
  ready(): Promise<void>
  /** Their ids, for tests. */
  pids(): readonly number[]
  /** Keeps none any more that has nothing to plan. */
  retire(): void
  /** Ends all of them; what waits is refused. */
  close(): Promise<void>
}

/** An operation that is to be planned, for one caller or several. */
interface Task {
  readonly key: string
  readonly texts: readonly string[]
  /** The promises of all callers that requested the same plan. */
  readonly askers: Askers[]
  readonly made: PromiseWithResolvers<readonly Planned[]>
  patience: NodeJS.Timeout | undefined
  /** Until when it may wait for a process that starts, in ms of `performance.now()`. */
  readonly startBy: number
  /** How many processes may still end while they have it. */
  lives: number
}

/** How often an operation is begun again when its process ends. */
const lives = 2
/** How long none is started after one could not be, in ms. */
const pauseMs = 250
/** Operations that took too much are refused at once, for so many ms; so many are remembered. */
const remembered = { most: 1000, ms: 60_000 }
/** What a caller made planners work counts half after so many ms; of so many callers it is known. */
const charged = { most: 5000, halfMs: 10_000 }

export function createPool(options: PoolOptions): Pool {
  const { atOnce, waiting: bounds, planMs, log, now = () => performance.now() } = options
  const processes = new Set<PlannerProcess>()
  /** Those that have nothing to do, and what ends them. */
  const idle = new Map<PlannerProcess, NodeJS.Timeout | undefined>()
  const waiting = new Set<Task>()
  /** Waiting and running plans by their texts: each is made once for all callers. */
  const underway = new Map<string, Task>()
  const refused = new LRUCache<string, () => Error>({ max: remembered.most, ttl: remembered.ms, ttlResolution: 0, perf: { now } })
  const charges = new LRUCache<string, { readonly ms: number; readonly at: number }>({ max: charged.most })
  const planning = new Set<string>()
  let { staying, idleMs } = options
  /** Whether none is to be started for a moment. */
  let pausing = false
  let closed = false

  const chargeOf = (caller: string): number => {
    const known = charges.get(caller)
    return known ? known.ms * 0.5 ** ((now() - known.at) / charged.halfMs) : 0
  }

  /** What is planned next, and for whose account: null when nothing may be. */
  const next = (): { task: Task; payer: string } | null => {
    let best: { task: Task; payer: string; charge: number } | null = null
    for (const task of waiting) {
      for (const caller of callersOf(task)) {
        if (planning.has(caller)) continue
        const charge = chargeOf(caller)
        if (!best || charge < best.charge) best = { task, payer: caller, charge }
      }
    }
    return best
  }

  const proceed = () => {
    while (!closed && (idle.size > 0 || (processes.size < atOnce && !pausing))) {
      const chosen = next()
      if (!chosen) return
      waiting.delete(chosen.task)
      clearTimeout(chosen.task.patience)
      void run(chosen.task, chosen.payer)
    }
  }

  const run = async (task: Task, payer: string) => {
    const process = take()
    let began = now()
    let isReady = false
    planning.add(payer)
    try {
      await process.ready
      isReady = true
      began = now()
      settle(task, await process.plan(task.texts, planMs))
    } catch (cause) {
      if (closed) fail(task, leaving())
      else if (!isReady && (cause instanceof Died || cause instanceof Stopped)) postpone(task, cause)
      else if (cause instanceof Stopped) {
        log.warn({ characters: task.texts.join('').length, limit: cause.message }, 'planner stopped: planning an operation took too long')
        options.stopped?.()
        refused.set(task.key, tooDear)
        fail(task, tooDear())
      } else if (cause instanceof Died) lost(task, cause)
      else fail(task, cause as Error)
    } finally {
      charges.set(payer, { ms: chargeOf(payer) + now() - began, at: now() })
      planning.delete(payer)
      give(process)
      proceed()
    }
  }

  /** Its process has ended: another one may plan it, unless it is the operation that ends them. */
  const lost = (task: Task, cause: Died) => {
    log.warn({ err: cause }, 'planner ended unexpectedly')
    task.lives -= 1
    if (task.lives > 0) wait(task, options.patienceMs, busy)
    else {
      refused.set(task.key, () => new Error(`Planners end over this operation: ${cause.message}`))
      fail(task, cause)
    }
  }

  /** Its process ended before it could plan, which says nothing of the operation: it waits for another one, that works already or starts later. */
  const postpone = (task: Task, cause: Error) => {
    log.warn({ err: cause }, 'planner did not start')
    wait(task, task.startBy - performance.now(), unstarted)
    if (pausing) return
    pausing = true
    setTimeout(() => {
      pausing = false
      proceed()
    }, pauseMs).unref()
  }

  const wait = (task: Task, ms: number, refusal: () => Error) => {
    waiting.add(task)
    task.patience = setTimeout(() => {
      waiting.delete(task)
      fail(task, refusal())
    }, ms)
  }

  const settle = (task: Task, made: readonly Planned[]) => {
    underway.delete(task.key)
    task.made.resolve(made)
  }
  const fail = (task: Task, cause: Error) => {
    underway.delete(task.key)
    task.made.reject(cause)
  }

  const start = (): PlannerProcess => {
    const process = options.start()
    processes.add(process)
    return process
  }
  const take = (): PlannerProcess => {
    for (const [process, ending] of idle) {
      idle.delete(process)
      clearTimeout(ending)
      if (!process.isOver) return process
      processes.delete(process)
    }
    return start()
  }
  const give = (process: PlannerProcess) => {
    if (closed) return
    if (process.isOver) {
      processes.delete(process)
      // The next caller must not wait for another process to start. A process that never planned is started again only on demand.
      process.ready.then(
        () => !closed && processes.size < staying && rest(start()),
        () => {},
      )
    } else rest(process)
  }
  const rest = (process: PlannerProcess) => {
    const end = () => {
      // All planners may have become idle at once: the last one stays.
      if (processes.size <= staying) return void idle.set(process, undefined)
      idle.delete(process)
      processes.delete(process)
      void process.end()
    }
    idle.set(process, processes.size > staying ? setTimeout(end, idleMs).unref() : undefined)
  }

  return {
    async ask(texts, askers) {
      askers.onJoin(proceed)
      const key = createHash('sha256').update(texts.join('\n')).digest('base64')
      const known = underway.get(key)
      if (known) {
        known.askers.push(askers)
        proceed()
        return known.made.promise
      }
      if (closed) throw leaving()
      const why = refused.get(key)
      if (why) throw why()
      if (waiting.size >= bounds.all || waitingOf(askers) >= bounds.each) throw busy()
      const task: Task = {
        key,
        texts,
        askers: [askers],
        made: Promise.withResolvers(),
        patience: undefined,
        startBy: performance.now() + options.patienceMs,
        lives,
      }
      underway.set(key, task)
      wait(task, options.patienceMs, busy)
      proceed()
      return task.made.promise
    },
    async ready() {
      if (processes.size === 0) rest(start())
      await [...processes][0]!.ready
    },
    pids: () => [...processes].flatMap(({ pid }) => pid ?? []),
    retire() {
      staying = 0
      idleMs = 0
      for (const [process, ending] of [...idle]) {
        clearTimeout(ending)
        rest(process)
      }
    },
    async close() {
      closed = true
      for (const task of waiting) {
        clearTimeout(task.patience)
        fail(task, leaving())
      }
      waiting.clear()
      for (const ending of idle.values()) clearTimeout(ending)
      await Promise.all([...processes].map(process => process.end()))
    },
  }

  function waitingOf({ names }: Askers): number {
    let count = 0
    for (const task of waiting) for (const caller of callersOf(task)) if (names.has(caller)) count += 1
    return count
  }
}

function* callersOf({ askers }: Task): Iterable<string> {
  for (const { names } of askers) yield* names
}

const tooDear = () => new Refusal('BAD_USER_INPUT', 'The operation takes too long to plan; ask for less at once.')
const busy = () => new Refusal('RATE_LIMITED', 'Too many operations that were not asked before wait to be planned: try again in a moment.', { retryAfter: 1 })
const unstarted = () => new Refusal('UPSTREAM_FAILED', 'No process can be started at the moment that plans the operation; try again in a moment.')
const leaving = () => new Refusal('UPSTREAM_FAILED', 'The operation was ended before it was planned.')
