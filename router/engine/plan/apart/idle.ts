import type { PlannerProcess } from './process.ts'

export interface IdleOptions {
  start(): PlannerProcess
  /** Number of processes that stay when there is nothing to plan. */
  readonly staying: number
  /** Milliseconds after which further idle processes end. */
  readonly idleMs: number
}

/** Starts planning processes, lends them, and ends those that nobody needs. */
export function createProcesses(options: IdleOptions) {
  const processes = new Set<PlannerProcess>()
  /** Idle processes, and the timers that end them. */
  const idle = new Map<PlannerProcess, NodeJS.Timeout | undefined>()
  let { staying, idleMs } = options
  let closed = false

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
    take,
    give,
    /** Number of processes. */
    get size() {
      return processes.size
    },
    /** Number of idle processes. */
    get idle() {
      return idle.size
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
      for (const ending of idle.values()) clearTimeout(ending)
      await Promise.all([...processes].map(process => process.end()))
    },
  }
}
