import type { Logger } from 'pino'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { NotReady } from '../../platform/errors.ts'

/** Whether this machine and the database tell the same time: what is due, and what is old enough to go, is told by our clock. */
export interface ClockWatch {
  /** Whether they did when last compared, and our clock was not set since; false before the first comparison. */
  agrees(): boolean
  /** Compares now; rejects with `NotReady` that says how far apart they are. */
  check(): Promise<void>
}

/** How far apart the two may be, in ms. */
const mostMs = 30_000

/**
 * Compares a clock with that of the database.
 * @param read    the database's time, in ms since 1970; an error says nothing of the clocks
 * @param clock   the one to judge: that of the machine, whatever clock others are given
 * @param elapsed a clock in ms that nobody sets @default the process's own
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
