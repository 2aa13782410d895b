import type { Logger } from 'pino'

/** How long the same failure stays silent after it was told, in ms. */
const silentMs = 10_000
/** How many different failures are remembered; past it the oldest may be told again early. */
const mostKnown = 200

/** Tells a failure now; or, when the same one was told a moment ago, counts it into the next line. */
export type TellFailure = (level: 'error' | 'warn', error: unknown, message: string, facts?: Readonly<Record<string, unknown>>) => void

/**
 * Makes a teller of failures that come by the hundred when something behind them is down: one line for each cause in ten
 * seconds, the next of which says how many were left out (`repeated`).
 * @param elapsed a clock in ms that is never set back @default the process's own
 */
export function tellOnce(log: Logger, elapsed: () => number = () => performance.now()): TellFailure {
  const told = new Map<string, { at: number; leftOut: number }>()
  return (level, error, message, facts) => {
    const cause = `${message}: ${causeOf(error)}`
    const before = told.get(cause)
    const now = elapsed()
    if (before && now - before.at < silentMs) {
      before.leftOut += 1
      return
    }
    told.delete(cause)
    told.set(cause, { at: now, leftOut: 0 })
    if (told.size > mostKnown) told.delete(told.keys().next().value!)
    log[level]({ err: error, ...facts, ...(before?.leftOut && { repeated: before.leftOut }) }, message)
  }
}

/** The code where there is one: messages name ports and times, which differ where the cause does not. */
function causeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  return typeof code === 'string' && code !== '' ? code : String(message ?? error).split('\n', 1)[0]!
}
