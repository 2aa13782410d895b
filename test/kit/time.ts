import { TestClock } from 'pg-boss'
import type { Clock } from '../../platform/clock.ts'

/** The one clock of a test's platform. It stands still: rules, rows, SQL, job queues, sweeps and the sandbox all read it. */
export interface BoundTime extends Clock {
  /** Moves the time by so many milliseconds, and nothing happens by itself: the test drives what it is about. */
  advance(milliseconds: number): Promise<void>
  /** Lets so many milliseconds pass: every poll of the job queues and every sweep that falls due meanwhile begins at its moment. */
  run(milliseconds: number): Promise<void>
  /** The moment that many milliseconds from now. */
  in(milliseconds: number): Date
  /** The same as text, for variables. */
  soon(milliseconds?: number): string
  /** What job runners are opened with. */
  readonly jobs: TestClock
}

/** A Monday morning, UTC, later than any machine that runs the tests believes it is. */
export const monday = '2027-03-01T09:00:00.000Z'

export function boundTime(start: string = monday): BoundTime {
  const jobs = new TestClock(start)
  const at = (milliseconds: number) => new Date(jobs.now() + milliseconds)
  return {
    jobs,
    now: () => at(0),
    advance: milliseconds => jobs.setTime(at(milliseconds)),
    run: milliseconds => jobs.tick(milliseconds),
    in: at,
    soon: (milliseconds = 60_000) => at(milliseconds).toISOString(),
  }
}
