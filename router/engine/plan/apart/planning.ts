import type { Logger } from 'pino'
import type { Supergraph } from '../../supergraph.ts'
import { type PlanTexts, withSecond } from '../plan-text.ts'
import { createPool } from './pool.ts'
import { type PlannerKind, startPlanner } from './process.ts'

export interface PlanningOptions {
  /** Milliseconds that planning one operation may take. */
  readonly planMs: number
  /** Milliseconds that an operation waits for a planner at most. @default 5000 */
  readonly timeoutMs?: number
  readonly log: Pick<Logger, 'warn'>
  /** Called for each operation whose planning exceeded a limit. */
  readonly stopped?: (() => void) | undefined
  /** Milliseconds of a monotonic clock. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
}

/** Plans in separate processes, which are ended and replaced where an operation takes too long. */
export interface Planning {
  readonly planTexts: PlanTexts
  /** Waits until the first process can plan. @throws Error for a supergraph that it cannot read */
  ready(): Promise<void>
  /** The processes' ids, for tests. */
  pids(): readonly number[]
  /** Ends every idle process, and the busy ones when they have finished. */
  retire(): void
  close(): Promise<void>
}

const usual = { waiting: { each: 32, all: 500 }, timeoutMs: 5000, idleMs: 60_000 }
const first: PlannerKind = { name: 'first', megabytes: 256 }
/** The second planner: few operations need it, and it holds the whole graph as JavaScript. */
const second: PlannerKind = { name: 'second', megabytes: 320 }

export function openPlanning({ sdl }: Pick<Supergraph, 'sdl'>, options: PlanningOptions): Planning {
  const firsts = createPool({ ...usual, ...options, start: () => startPlanner(sdl, first), atOnce: 2, staying: 1 })
  const seconds = createPool({ ...usual, ...options, start: () => startPlanner(sdl, second), atOnce: 1, staying: 0 })
  return {
    planTexts: withSecond(firsts.ask, seconds.ask),
    ready: firsts.ready,
    pids: () => [...firsts.pids(), ...seconds.pids()],
    retire() {
      firsts.retire()
      seconds.retire()
    },
    async close() {
      await Promise.all([firsts.close(), seconds.close()])
    },
  }
}
