import type { ErrorCode } from '../../platform/errors.ts'

/** What clients of OpenAI read of a refusal, beside whatever else the body says. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  /** The parameter that was wrong. */
  readonly param: string | null
  readonly code: string | null
}

const types: Partial<Record<ErrorCode, string>> = {
  UNAUTHENTICATED: 'authentication_error',
  BUDGET_EXCEEDED: 'budget_exceeded',
  FORBIDDEN: 'permission_error',
  RATE_LIMITED: 'rate_limit_error',
  UPSTREAM_FAILED: 'upstream_error',
  INTERNAL_SERVER_ERROR: 'api_error',
}

/** What their clients know a refusal by that has no reason of its own. */
const codes: Partial<Record<ErrorCode, string>> = { UNAUTHENTICATED: 'invalid_api_key' }

/** A refusal as OpenAI's clients read it: its `field` is their `param`, its `reason` their `code`. */
export const openAiError = (code: string, message: string, { field, reason }: { readonly field?: unknown; readonly reason?: unknown } = {}): OpenAiError => ({
  message,
  type: types[code as ErrorCode] ?? 'invalid_request_error',
  param: typeof field === 'string' ? field : null,
  code: typeof reason === 'string' ? reason : (codes[code as ErrorCode] ?? null),
})
