import type { ErrorCode } from '../../platform/errors.ts'

/** The part of an error that OpenAI's clients read; the body may contain more. */
export interface OpenAiError {
  readonly message: string
  readonly type: string
  /** The invalid parameter. */
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

/** Codes that OpenAI's clients expect for errors without a reason. */
const codes: Partial<Record<ErrorCode, string>> = { UNAUTHENTICATED: 'invalid_api_key' }

/** Converts an error to OpenAI's format: its `field` becomes `param`, its `reason` becomes `code`. */
export const openAiError = (code: string, message: string, { field, reason }: { readonly field?: unknown; readonly reason?: unknown } = {}): OpenAiError => ({
  message,
  type: types[code as ErrorCode] ?? 'invalid_request_error',
  param: typeof field === 'string' ? field : null,
  code: typeof reason === 'string' ? reason : (codes[code as ErrorCode] ?? null),
})
