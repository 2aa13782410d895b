import { LRUCache } from 'lru-cache'
import type { Askers, Planned } from '../plan-text.ts'

/** An operation that is to be planned, for one caller or several. */
export interface Task {
  readonly key: string
  readonly texts: readonly string[]
  /** Labels of progressive overrides that are active. */
  readonly active: readonly string[]
  /** The promises of all callers that requested the same plan. */
  readonly askers: Askers[]
  readonly made: PromiseWithResolvers<readonly Planned[]>
  patience: NodeJS.Timeout | undefined
  /** Until when the task may wait for a process that starts, in ms of `performance.now()`. */
  readonly startBy: number
  /** Number of processes that may still end while they plan this task. */
  lives: number
}

/** A caller's planning time counts half after some ms; the time of a maximum number of callers is known. */
const charged = { most: 5000, halfMs: 10_000 }

/** Creates the queue of operations that wait to be planned, or are being planned. */
export function createQueue(now: () => number) {
  const waiting = new Set<Task>()
  /** Waiting and running plans by their texts: each is made once for all callers. */
  const underway = new Map<string, Task>()
  const charges = new LRUCache<string, { readonly ms: number; readonly at: number }>({ max: charged.most })
  const planning = new Set<string>()

  const chargeOf = (caller: string): number => {
    const known = charges.get(caller)
    return known ? known.ms * 0.5 ** ((now() - known.at) / charged.halfMs) : 0
  }

  /** Returns the next task to plan and the caller who pays for it; null when none may run. */
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

  return {
    underway,
    planning,
    next,
    wait,
    settle,
    fail,
    waitingOf,
    /** Number of waiting operations. */
    get size() {
      return waiting.size
    },
    /** Takes a task out of those that wait. */
    take(task: Task) {
      waiting.delete(task)
      clearTimeout(task.patience)
    },
    /** Charges a caller for planning that began at a time. */
    charge: (payer: string, began: number) => charges.set(payer, { ms: chargeOf(payer) + now() - began, at: now() }),
    /** Rejects all waiting operations. */
    close(cause: () => Error) {
      for (const task of waiting) {
        clearTimeout(task.patience)
        fail(task, cause())
      }
      waiting.clear()
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
