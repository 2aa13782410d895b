import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import type { Tracing } from '../../platform/caller/trace.ts'
import type { Colleagues } from './process/colleagues.ts'
import type { Tell } from './process/tell.ts'

/** How long a stop may take, in ms, before the process ends anyway. */
export const stopWithinMs = 6_500

/** Something that runs until it is stopped. */
export interface Running {
  /** Returns how long a stop that begins now may take, in ms, before the process ends anyway. @default as for one process */
  readonly stopWithinMs?: (() => number) | undefined
  /** Reads once more what it was started with; without it nothing can be. */
  readonly reload?: (() => void) | undefined
  /** Drains and ends everything that was started; safe to call twice. */
  stop(): Promise<void>
}

/** The interface between a start and its process. */
export interface Startup {
  /** Aborts when the process is to end before the start is done. */
  readonly signal: AbortSignal
  /** Tells people, or collectors of lines. */
  readonly tell: Tell
  /**
   * Takes what frees, without waiting, a thing that would outlive this process: called when the process falls over, also while
   * it is still starting.
   */
  onAbandon(free: () => void): void
}

/** What everything that is put together during a start has at hand. */
export interface Process extends Startup {
  readonly config: Config
  readonly log: Logger
  /** The figures at `/metrics`. */
  readonly metrics: Registry
  /** Where traces go; undefined: nowhere. */
  readonly tracing: Tracing | undefined
  /** The processes with which it serves its port; null: it has it for itself. */
  readonly colleagues: Colleagues | null
  /** Takes what has to be stopped again, in the order in which it was started. */
  readonly stack: AsyncDisposableStack
}
