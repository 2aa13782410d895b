/** The one table of error codes: what each means to a caller and which HTTP status REST answers with it. */
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

/** Whether a code stands in the table; anything else is shown to clients as INTERNAL_SERVER_ERROR. */
export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(statusOf, code)

/**
 * The one error that may reach a client as it is written: its sentence says what was wrong, where, and what to do next.
 * graphql-js copies `extensions` to the answer, so the code survives every transport; nobody tests `instanceof` across
 * a subgraph.
 */
export class Refusal extends Error {
  readonly extensions: Record<string, unknown>

  /**
   * @param code    a row of the table above
   * @param message one sentence for the person who reads it
   * @param details JSON-safe facts for a program, e.g. `{ field: 'scheduledAt' }` or `{ retryAfter: 30 }` (seconds)
   */
  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'Refusal'
    this.extensions = { ...details, code }
  }

  get code(): ErrorCode {
    return this.extensions.code as ErrorCode
  }
}

/** Reads the code of anything thrown, by its shape: errors cross subgraphs and processes as plain data. */
export function codeOf(error: unknown): ErrorCode {
  const code = (error as { extensions?: { code?: unknown } } | null | undefined)?.extensions?.code
  return isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR'
}

/** Why something does not work at present, in words that everybody may read: readiness shows its message. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}
