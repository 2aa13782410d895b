import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'
import { causeNow } from '../../platform/caller/cause.ts'
import { awayCause } from '../../platform/sql/away.ts'

/** What never stands in a log, wherever a caller put it. */
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
 * Makes the platform's log: one JSON object a line, secrets replaced. Of an error it keeps type, message, code and stack:
 * errors of drivers carry the values of their statements. What fails because something behind is away is told once in ten
 * seconds for each message and cause, with the number of lines left out since (`repeated`). So is what fails more often than once in
 * one request, or at one event after the other of a subscription: a request has many fields, and whoever sends it chose how many.
 * @param elapsed a clock in ms that is never set back @default the process's own
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

/** Where an error was made, and of which kind: its message may name a record, and so be another one each time. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name, message, stack = '' } = error
  return `${name} ${/\n\s+at [^\n]*/.exec(stack)?.[0] ?? message}`
}

/** How long the same failure stays silent after it was told, in ms. */
const silentMs = 10_000
/** How many different failures are remembered; past it the oldest may be told again early. */
const mostKnown = 200

/**
 * Makes what keeps a log readable while a database is away and every request and poll fails for the same reason: one line for
 * each message and cause in ten seconds.
 * @param elapsed a clock in ms that is never set back
 * @returns for a line: null when it is left out, else how many like it were left out before
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
