import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { causeNow } from '../../platform/caller/cause.ts'
import { awayCause } from '../../platform/sql/away.ts'

/** Names of values that are never logged, wherever a caller put them. */
const secrets = [
  'authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-service-token',
  'password',
  'token',
  'accessToken',
  'refreshToken',
  'apiKey',
  'secret',
  'body',
  'variables',
].flatMap(name => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])

/**
 * Creates the platform's log: one JSON object a line, secrets replaced. Of an error it keeps type, message, code and
 * stack, because drivers' errors carry the values of their statements. Failures of an unavailable dependency are logged
 * once in ten seconds for each message and cause, with the number of omitted lines (`repeated`). The same holds for
 * repeated failures within one request or subscription, whose number of fields the client chooses.
 * @param elapsed monotonic clock in ms @default the process's own
 */
export function createLog(level: string, destination?: DestinationStream, elapsed: () => number = () => performance.now()): Logger {
  const repeats = createRepeats(elapsed)
  // Kept separately: countless failing requests would displace the record of an unavailable dependency.
  const inRequests = createRepeats(elapsed)
  const options: LoggerOptions = {
    level,
    base: null,
    // Copies the object, because a line's own fields take precedence.
    mixin: () => ({ ...causeNow() }),
    redact: { paths: secrets, censor: '[secret]' },
    serializers: { err: describeError },
    hooks: {
      logMethod(line, write) {
        const [facts, message] = line as unknown as [{ err?: unknown; service?: unknown; requestId?: unknown } | undefined, string | undefined]
        if (typeof facts !== 'object' || facts === null || facts.err === undefined) return Reflect.apply(write, this, line)
        const { err, service = '', requestId } = facts
        const away = awayCause(err)
        if (away === null && typeof requestId !== 'string') return Reflect.apply(write, this, line)
        const leftOut = away === null ? inRequests(`${requestId} ${message} ${service} ${placeOf(err)}`) : repeats(`${message} ${service} ${away}`)
        if (leftOut === null) return
        Reflect.apply(write, this, leftOut === 0 ? line : [{ ...facts, repeated: leftOut }, message])
      },
    },
  }
  return destination ? pino(options, destination) : pino(options)
}

function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error, message: String((error as { message?: unknown } | null)?.message ?? error) }
  const { name, message, stack, cause } = error
  const code = (error as { code?: unknown }).code
  return {
    type: name,
    message,
    ...(typeof code === 'string' && { code }),
    stack,
    ...(cause !== undefined && depth < 3 && { cause: describeError(cause, depth + 1) }),
  }
}

/** Returns where an error was created and of which kind: its message may name a record and so differ each time. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = '' } = error
  return `${name} ${/\n\s+at [^\n]*/.exec(stack)?.[0] ?? message}`
}

/** How long a repeated failure is not logged again, in ms. */
const silentMs = 10_000
/** Maximum number of remembered failures; beyond it the oldest may be logged again early. */
const mostKnown = 200

/**
 * Limits repeated log lines while a dependency is unavailable and every request and poll fails for the same reason: one
 * line for each message and cause in ten seconds.
 * @param elapsed monotonic clock in ms
 * @returns for a line: null when it is omitted, else the number of omitted lines like it
 */
function createRepeats(elapsed: () => number): (line: string) => number | null {
  const logged = new Map<string, { at: number; leftOut: number }>()
  return line => {
    const before = logged.get(line)
    const now = elapsed()
    if (before && now - before.at < silentMs) {
      before.leftOut += 1
      return null
    }
    logged.delete(line)
    logged.set(line, { at: now, leftOut: 0 })
    if (logged.size > mostKnown) logged.delete(logged.keys().next().value!)
    return before?.leftOut ?? 0
  }
}
