import type { Logger } from 'pino'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { NotReady } from '../../platform/errors.ts'

/**
 * Compares the clocks of this machine and the database, because our clock decides what is due and what is old enough
 * for deletion.
 */
export interface ClockWatch {
  /**
   * Whether the clocks agreed at the last comparison, and ours was not set since; false before the first comparison.
   */
  agrees(): boolean
  /** Compares the clocks now; rejects with `NotReady`, which names the difference. */
  check(): Promise<void>
}

/** Maximum difference in ms. */
const mostMs = 30_000

/**
 * Creates the comparison of a clock with the database's.
 * @param read    the database's time, in ms since 1970; after an error the clocks are not compared
 * @param clock   the clock to check: the machine's, also where others use another one
 * @param elapsed monotonic clock in ms @default the process's own
 */
export function watchClock(read: () => Promise<number>, log: Logger, clock: Clock = systemClock, elapsed: () => number = () => performance.now()): ClockWatch {
  let right: boolean | undefined
  let base = 0
  const now = () => clock.now().getTime()
  return {
    agrees: () => right === true && Math.abs(now() - elapsed() - base) <= mostMs,
    async check() {
      const sent = now()
      const theirs = await read()
      const answered = now()
      // The database read its clock between the two moments: the middle is right to within half the distance.
      const ms = (sent + answered) / 2 - theirs
      const agrees = Math.abs(ms) - Math.abs(answered - sent) / 2 <= mostMs
      const reason = `the clock of this machine is ${Math.round(Math.abs(ms) / 1000)} s ${ms > 0 ? 'ahead of' : 'behind'} the database's`
      if (!agrees && right !== false) log.error({ reason }, 'the clocks of this machine and the database disagree: jobs and sweeps are paused; set the clock')
      if (agrees && right === false) log.warn('the clocks of this machine and the database agree again: jobs and sweeps resume')
      right = agrees
      base = answered - elapsed()
      if (!agrees) throw new NotReady(reason)
    },
  }
}
