import { type DestinationStream, type Logger, pino } from 'pino'

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
 * errors of drivers carry the values of their statements.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = { level, base: null, redact: { paths: secrets, censor: '[secret]' }, serializers: { err: describeError } }
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
