import type { Logger } from 'pino'
import { NotReady } from '../../platform/errors.ts'

/** Compares the router's clock with this process's, by the times in seals. */
export interface SealTimes {
  /** Records a seal's time difference, see `SealReaderOptions`. */
  note(aheadSeconds: number | null): void
  /**
   * Rejects with `NotReady` for a minute after a seal was rejected for its time alone, unless one was accepted since.
   */
  check(): Promise<void>
}

const lineEveryMs = 10_000
const notReadyMs = 60_000

/**
 * Creates the check for clocks that differ too much: it logs once in ten seconds, and affects readiness.
 * @param elapsed monotonic clock in ms @default the process's own
 */
export function watchSealTimes(log: Logger, elapsed: () => number = () => performance.now()): SealTimes {
  let found: { readonly reason: string; readonly at: number } | null = null
  let lineAt = Number.NEGATIVE_INFINITY
  return {
    note(aheadSeconds) {
      if (aheadSeconds === null) {
        found = null
        return
      }
      const side = aheadSeconds > 0 ? 'ahead of' : 'behind'
      found = { reason: `the router's clock seems to be ${Math.round(Math.abs(aheadSeconds))} s ${side} this machine's`, at: elapsed() }
      if (found.at - lineAt < lineEveryMs) return
      lineAt = found.at
      log.error({ reason: found.reason }, 'the router’s seal is valid except for its time: one of the two clocks is wrong')
    },
    async check() {
      if (found && elapsed() - found.at < notReadyMs) throw new NotReady(found.reason)
    },
  }
}
