import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config.ts'
import type { Tracing } from '../../platform/caller/trace.ts'
import type { Colleagues } from './process/colleagues.ts'
import type { Reporter } from './process/reporter.ts'

/** Milliseconds that a stop may take before the process ends anyway. */
export const stopWithinMs = 6_500

/** Something that runs until it is stopped. */
export interface Running {
  /**
   * Returns the milliseconds that a stop may take from now before the process ends anyway. @default as for one process
   */
  readonly stopWithinMs?: (() => number) | undefined
  /** Reloads the files that the process was started with; undefined when it has none. */
  readonly reload?: (() => void) | undefined
  /** Drains and ends everything that was started; safe to call twice. */
  stop(): Promise<void>
}

/** The interface between a start and its process. */
export interface Startup {
  /** Aborts when the process is to end before the start is done. */
  readonly signal: AbortSignal
  /** Reports to people, or to collectors of log lines. */
  readonly reporter: Reporter
  /**
   * Registers a function that releases, without waiting, a resource that would outlive this process. It is called when
   * the process crashes, also during its start.
   */
  onAbandon(free: () => void): void
}

/** Dependencies of everything that a start creates. */
export interface Process extends Startup {
  readonly config: Config
  readonly log: Logger
  /** The figures at `/metrics`. */
  readonly metrics: Registry
  /** Tracing; undefined when no collector is configured. */
  readonly tracing: Tracing | undefined
  /** The processes that serve the same port; null when this process serves it alone. */
  readonly colleagues: Colleagues | null
  /** Stops everything that was started, in reverse order. */
  readonly stack: AsyncDisposableStack
}
