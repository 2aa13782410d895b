import type { Logger as EngineLogger } from 'pino'
import type { Logger } from '../types.ts'

/** Returns a logger to the console: warnings and errors, and everything where debugging is on. */
export function defaultLogger(isDebug = false): Logger {
  const silent = () => {}
  // biome-ignore-start lint/suspicious/noConsole: the default of a library without a logger
  return {
    debug: isDebug ? message => console.debug(message) : silent,
    info: isDebug ? message => console.info(message) : silent,
    warn: message => console.warn(message),
    error: message => console.error(message),
  }
  // biome-ignore-end lint/suspicious/noConsole: as above
}

/** Passes the engine's messages to a user's logger: the cause stands behind the message. */
export function engineLog(logger: Logger): Pick<EngineLogger, 'error' | 'warn'> {
  const line = (facts: unknown, message?: string) => {
    const cause = (facts as { err?: unknown } | null)?.err
    const reason = cause instanceof Error ? cause.message : cause === undefined ? '' : String(cause)
    return reason ? `${message ?? ''}: ${reason}` : (message ?? String(facts))
  }
  return {
    error: ((facts: unknown, message?: string) => logger.error(line(facts, message))) as EngineLogger['error'],
    warn: ((facts: unknown, message?: string) => logger.warn(line(facts, message))) as EngineLogger['warn'],
  }
}
