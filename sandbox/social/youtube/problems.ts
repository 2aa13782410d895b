import type { Reply } from '../../network.ts'
import { json } from '../../network.ts'

/** What Google's data interfaces refuse with: a status, and a reason that programs act on. */
export interface Problem {
  readonly status: number
  readonly reason: string
  readonly message: string
  /** @default youtube.parameter, of quotas youtube.quota, of credentials global */
  readonly domain?: string
}

export const unauthorized: Problem = {
  status: 401,
  reason: 'authError',
  message: 'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
  domain: 'global',
}
export const quotaExceeded: Problem = {
  status: 403,
  reason: 'quotaExceeded',
  message: 'The request cannot be completed because you have exceeded your <a href="/youtube/v3/getting-started#quota">quota</a>.',
  domain: 'youtube.quota',
}
/** A grant without the scope that a call needs. */
export const forbidden: Problem = {
  status: 403,
  reason: 'insufficientPermissions',
  message: 'Request had insufficient authentication scopes.',
  domain: 'global',
}
export const notFound = (what: string): Problem => ({ status: 404, reason: 'notFound', message: `The ${what} that you are looking for cannot be found.` })
export const missing = (name: string): Problem => ({ status: 400, reason: 'required', message: `Required parameter: ${name}` })
export const invalid = (message: string): Problem => ({ status: 400, reason: 'badRequest', message })

/** What a status stands for where a fault has asked for it. */
export function problemOfStatus(status: number): Problem {
  if (status === 401) return unauthorized
  if (status === 403) return quotaExceeded
  if (status === 429) return { status, reason: 'rateLimitExceeded', message: 'Too many requests.', domain: 'usageLimits' }
  return status >= 500
    ? { status, reason: 'backendError', message: 'Backend Error', domain: 'global' }
    : { status, reason: 'badRequest', message: 'Request contains an invalid argument.' }
}

/** Writes one as Google does. */
export function refusal({ status, reason, message, domain = 'youtube.parameter' }: Problem): Reply {
  const error = { code: status, message, errors: [{ message, domain, reason }] }
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="invalid_token"' } : {}
  return { ...json(status, { error }, 'refused', headers), reason }
}
