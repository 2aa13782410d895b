import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Engine } from '../../engine/engine.ts'
import { registerFigures } from '../figure.ts'
import { countUsage } from './recorder.ts'
import type { CoordinateUse, UsageStore } from './store.ts'
import { createSums, dayOf } from './sums.ts'
import { startWriter } from './writer.ts'

/** Records the use of the schema by the operations of a router. */
export interface Usage {
  /** Wraps an engine to count every operation. */
  watch(engine: Engine): Engine
  /** Returns uses of coordinates in the last days, as far as they are stored. */
  read(coordinates: readonly string[], days: number): Promise<readonly CoordinateUse[]>
  /** Stores what was counted since the last time. */
  flush(): Promise<void>
}

export interface UsageOptions {
  readonly store: UsageStore
  readonly flushMs: number
  /** Number of days for which sums are kept. */
  readonly days: number
  readonly log: Pick<Logger, 'error' | 'warn' | 'info'>
  readonly metrics: Registry
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined
}

/** @param stack collects the end: what was counted is stored before */
export function openUsage({ store, flushMs, days, log, metrics, now = Date.now }: UsageOptions, stack: AsyncDisposableStack): Usage {
  const sums = createSums(now())
  const writer = startWriter({ store, sums, flushMs, days, log, now })
  stack.defer(() => writer.stop())
  registerFigures(metrics, writer.figures)
  return {
    watch: engine => countUsage(engine, sums, log, now),
    read: (coordinates, past) => store.read({ since: dayOf(now() - past * 86_400_000), coordinates }),
    flush: writer.flush,
  }
}
