import type { Clock } from '../../../../platform/clock.ts'
import type { Sweep } from '../../../../platform/jobs/queue.ts'

/**
 * Interval of a sweep in ms, within which it takes over what a process that died has left; an alarm begins a run at the
 * moment that it is set to.
 */
const everyMs = 30_000

/** Begins the runs of a sweep when there is work, between its regular ones. */
export interface Alarm {
  /** Has the sweep run at a moment, if that comes before its next regular run. */
  at(moment: Date): void
  /** Has the sweep run now. */
  ring(): void
  /**
   * Returns the sweep.
   * @param run does what is due, and returns when there is more to do; null while that is not known
   */
  sweep(facts: Pick<Sweep, 'name' | 'asksOthers'>, run: () => Promise<Date | null>): Sweep
}

/** Opens an alarm for one sweep. */
export function openAlarm(clock: Clock): Alarm {
  let wake: ((ms?: number) => void) | undefined
  const at = (moment: Date) => {
    const ms = moment.getTime() - clock.now().getTime()
    // A later one is found by the regular run before it.
    if (ms <= everyMs) wake?.(Math.max(0, ms))
  }
  return {
    at,
    ring: () => wake?.(),
    sweep: (facts, run) => ({
      ...facts,
      everyMs,
      wakes: given => {
        wake = given
      },
      async run() {
        const next = await run()
        if (next) at(next)
      },
    }),
  }
}
