import type { Logger } from 'pino'
import type { Supergraph } from '../../supergraph.ts'
import { type PlanTexts, withSecond } from '../plan-text.ts'
import { createPool } from './pool.ts'
import { type PlannerKind, startPlanner } from './process.ts'

export interface PlanningOptions {
  /** Milliseconds that an operation may take to be planned. */
  readonly planMs: number
  /** Milliseconds that an operation waits for a planner at most. @default 5000 */
  readonly patienceMs?: number
  readonly log: Pick<Logger, 'warn'>
  /** Told of each operation that took more than it may. */
  readonly stopped?: (() => void) | undefined
  /** Milliseconds of a clock that only goes forward. @default that of `performance.now()` */
  readonly now?: (() => number) | undefined
}

/** Plans in processes of their own, which are ended and replaced where an operation takes too long. */
export interface Planning {
  readonly planTexts: PlanTexts
  /** Waits until the first of them can plan. @throws Error for a supergraph that it cannot read */
  ready(): Promise<void>
  /** The processes' ids, for tests. */
  pids(): readonly number[]
  /** Keeps no process any more that has nothing to plan. */
  retire(): void
  close(): Promise<void>
}

const usual = { waiting: { each: 32, all: 500 }, patienceMs: 5000, idleMs: 60_000 }
const first: PlannerKind = { name: 'first', megabytes: 256 }
/** It is needed for few operations, and rarely: it holds the whole graph as JavaScript. */
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
