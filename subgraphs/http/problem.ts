import { type DomainError, type ErrorCode, statusOf } from '../../platform/errors.ts'

/**
 * Writes an error as `application/problem+json` (RFC 9457): its code, its message, and those of its details on which
 * clients act.
 * @param more further members of the body
 */
export function problemOf(request: Request, { message, extensions }: DomainError, cookies: readonly string[] = [], more: object = {}): Response {
  const { code, retryAfter, reason, field } = extensions as DomainError['extensions'] & Told
  return problem(request, code as ErrorCode, message, { retryAfter, reason, field, ...more }, cookies)
}

interface Told {
  /** Seconds. */
  readonly retryAfter?: number | undefined
  readonly reason?: string | undefined
  readonly field?: string | undefined
  readonly [more: string]: unknown
}

export function problem(request: Request, code: ErrorCode, detail: string, { retryAfter, ...told }: Told = {}, cookies: readonly string[] = []): Response {
  const status = statusOf[code]
  const requestId = request.headers.get('x-request-id')
  const body = { type: 'about:blank', title: titles[code] ?? code, status, detail, code, ...told, ...(requestId && { requestId }) }
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (retryAfter !== undefined) headers.set('retry-after', String(retryAfter))
  for (const cookie of cookies) headers.append('set-cookie', cookie)
  return new Response(JSON.stringify(body), { status, headers })
}

const titles: Partial<Record<ErrorCode, string>> = {
  BAD_USER_INPUT: 'Bad request',
  UNAUTHENTICATED: 'Not authenticated',
  FORBIDDEN: 'Forbidden',
  NOT_FOUND: 'Not found',
  CONFLICT: 'Conflict',
  RATE_LIMITED: 'Too many attempts',
  BUDGET_EXCEEDED: 'Payment required',
  UPSTREAM_FAILED: 'Bad gateway',
}
