/** All error codes, with their meaning for callers and their HTTP status in REST. */
export const statusOf = {
  BAD_USER_INPUT: 400,
  OPERATION_TOO_EXPENSIVE: 400,
  UNAUTHENTICATED: 401,
  BUDGET_EXCEEDED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  UPSTREAM_FAILED: 502,
} as const

export type ErrorCode = keyof typeof statusOf

/** Whether the table has a code; errors with other codes are shown to clients as INTERNAL_SERVER_ERROR. */
export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(statusOf, code)

/**
 * The only error whose message may reach a client: it says what was wrong, where, and what to do next. graphql-js
 * copies `extensions` to the answer, so the code survives every transport; no code tests `instanceof` across subgraphs.
 */
export class DomainError extends Error {
  readonly extensions: Record<string, unknown>

  /**
   * @param code    a row of the table above
   * @param message one sentence for people
   * @param details JSON-safe facts for programs, e.g. `{ field: 'scheduledAt' }` or `{ retryAfter: 30 }` (seconds)
   */
  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'DomainError'
    this.extensions = { ...details, code }
  }

  get code(): ErrorCode {
    return this.extensions.code as ErrorCode
  }
}

/** Reads the code of any thrown value by its shape, because errors cross subgraphs and processes as plain data. */
export function codeOf(error: unknown): ErrorCode {
  const code = (error as { extensions?: { code?: unknown } } | null | undefined)?.extensions?.code
  return isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR'
}

/** Reports why a dependency does not work at present; readiness shows its message to everyone. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}
