/** System error codes, and SQLSTATEs of a server that stops, starts, is full or refuses connections. */
const awayCodes = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P0[1-4]|08\w{3}|53\w{3}|25006|58\w{3})$/
const awayMessages = /^(Connection terminated|the database has said nothing|timeout exceeded when trying to connect|Client has encountered a connection error)/
const awayNames = /^SequelizeConnection/

/**
 * Returns the short name of an unavailable dependency, when an error or its cause reports one; null for every other
 * error. Third parties are not included: each of their calls handles its own failures.
 */
export function awayCause(error: unknown): string | null {
  let present = error as { name?: unknown; code?: unknown; message?: unknown; cause?: unknown; parent?: unknown; originalError?: unknown } | null | undefined
  for (let depth = 0; depth < 5 && typeof present === 'object' && present !== null; depth++) {
    const { name, code, message } = present
    if (name === 'OutboundFailure') return null
    if (typeof code === 'string' && awayCodes.test(code)) return code
    const words = typeof message === 'string' ? awayMessages.exec(message) : null
    if (words) return words[0]
    if (typeof name === 'string' && awayNames.test(name)) return name
    present = (present.cause ?? present.parent ?? present.originalError) as typeof present
  }
  return null
}
