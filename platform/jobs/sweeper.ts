import type { Clock } from 'pg-boss'
import type { Logger } from 'pino'
import { doFor } from '../caller/cause.ts'
import { type Elapsed, within } from './deadline.ts'
import type { Sweep } from './queue.ts'

export interface SweeperOptions {
  readonly sweep: Sweep
  readonly clock: Clock
  readonly elapsed: Elapsed
  readonly mayRun: () => boolean
  readonly log: Logger
}

export interface Sweeper {
  start(): void
  /** When the last run ended, on the clock `elapsed`. */
  readonly lastFinished: number
  /** Starts no more runs; resolves when none is in progress. */
  stop(): Promise<void>
}

/** Time limit in ms of a run; after it the next one begins. */
export const roundMs = 60_000

/** Runs a sweep at its interval, one run at a time; a run that hangs is abandoned, and the next begins. */
export function createSweeper({ sweep, clock, elapsed, mayRun, log }: SweeperOptions): Sweeper {
  let lastFinished = elapsed()
  let over = false
  let timer: unknown
  let started = false
  /** Whether another run was requested during the present one. */
  let again = false
  /** Timers of early runs. */
  const early = new Set<unknown>()
  let round: Promise<void> | undefined

  const run = async () => {
    try {
      if (mayRun()) await within(clock, roundMs, `the sweep "${sweep.name}"`, sweep.run())
      lastFinished = elapsed()
    } catch (error) {
      log.error({ err: error, sweep: sweep.name }, 'sweep failed; the next round retries')
    }
  }
  const begin = () => {
    if (over || round) return
    round = run().finally(() => {
      round = undefined
      if (!again) return
      again = false
      begin()
    })
  }
  const wake = (ms = 0) => {
    // Before the start nothing can run, and the start runs the sweep at once.
    if (over || !started) return
    if (ms > 0) {
      const waiting = clock.setTimeout(() => {
        early.delete(waiting)
        wake()
      }, ms)
      early.add(waiting)
    } else if (round) again = true
    else begin()
  }
  // The caller is in the middle of other work, so the sweep starts in a later turn.
  sweep.wakes?.(ms => doFor(null, () => wake(ms)))
  return {
    get lastFinished() {
      return lastFinished
    },
    start() {
      started = true
      begin()
      timer = clock.setInterval(begin, sweep.everyMs)
    },
    async stop() {
      over = true
      clock.clearInterval(timer)
      for (const waiting of early) clock.clearTimeout(waiting)
      await round
    },
  }
}
