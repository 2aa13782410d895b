import type { Logger } from 'pino'
import type { Transaction } from 'sequelize'
import type { Clock } from './clock.ts'

/** A wake-up: it carries an id, never a copy of the row it is about. The row is the only truth. */
export interface Jobs {
  /**
   * Adds a wake-up in the transaction that makes it necessary: no commit, no job.
   * @param startAfter not before this moment @default at once
   */
  enqueue(queue: string, data: Readonly<Record<string, string>>, options: { transaction?: Transaction; startAfter?: Date }): Promise<void>
  /** Starts taking work. */
  start(): Promise<void>
  /** Stops taking work, waits a bounded time for what runs. */
  stop(): Promise<void>
}

/** What happens on a wake-up. It may come twice, late, or for a row that has moved on: the handler looks. */
export interface JobQueue {
  readonly name: string
  /** How many wake-ups of this queue run at the same time in one process. @default 8 */
  readonly concurrency?: number
  handle(data: Record<string, string>, signal: AbortSignal): Promise<void>
}

/** Work that is looked for rather than sent: runs every so many milliseconds in each process. */
export interface Sweep {
  readonly name: string
  readonly everyMs: number
  run(): Promise<void>
}

export type OpenJobs = (options: { slug: string; queues: readonly JobQueue[]; sweeps: readonly Sweep[]; log: Logger; clock: Clock }) => Jobs
