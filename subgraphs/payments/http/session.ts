import type { CallService } from '../../../platform/ask.ts'
import { DomainError } from '../../../platform/errors.ts'
import { readFields } from '../../http/body.ts'
import { registration } from '../registration.ts'
import type { Addresses } from './service-identity.ts'

const noStore = { 'cache-control': 'no-store' }

/**
 * Answers `GET /payments/login`: sends the browser to the hosted sign-in, which comes back with a code. A `return_to` that is no path of
 * this service is ignored.
 */
export function loginRedirect({ auth }: Addresses, request: Request): Response {
  const wanted = new URL(request.url).searchParams.get('return_to') ?? ''
  // Browsers read a backslash as a slash, so `/\host` would leave the platform.
  const returnTo = /^\/(?![/\\])[!-~]*$/.test(wanted) ? wanted : '/'
  const query = new URLSearchParams({ service: registration.slug, return_to: returnTo })
  return new Response(null, { status: 302, headers: { location: `${auth}/identity/login?${query}`, ...noStore } })
}

export interface SessionNeeds {
  readonly addresses: Addresses
  /** Null where this service has no token to call others with. */
  readonly call: CallService | null
  /** The id that the registry has for payments. */
  serviceId(): Promise<string>
}

/**
 * Answers `POST /payments/api/session`: the code of a handoff to payments for an access token. No cookie is set and nothing is stored, so
 * the page that gets the token is the only place that has it.
 * @throws BAD_USER_INPUT with reason CODE for a code that opens nothing here, FORBIDDEN for a page of another origin
 */
export async function exchangeCode({ addresses, call, serviceId }: SessionNeeds, request: Request): Promise<Response> {
  const origin = request.headers.get('origin')
  if (origin !== null && !Object.values(addresses).includes(origin)) throw new DomainError('FORBIDDEN', 'Only pages of the platform may exchange a code.')
  const { code } = await readFields(request)
  if (typeof code !== 'string' || code === '') throw refusedCode()
  if (!call) throw new DomainError('UPSTREAM_FAILED', 'Payments has no token to call identity with: an operator sets APP_SERVICE_TOKENS.')
  const answer = await call(
    '/identity/api/auth/sso/exchange',
    { appId: registration.appId, organizationId: null },
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code, serviceId: await serviceId() }) },
  ).catch(() => null)
  if (!answer || answer.status >= 500) throw new DomainError('UPSTREAM_FAILED', 'Sign-in does not answer: try again in a moment.')
  if (answer.status !== 200) throw refusedCode()
  const { accessToken, expiresAt, returnTo } = JSON.parse(answer.text) as Record<string, unknown>
  return Response.json({ accessToken, expiresAt, returnTo: returnTo ?? null }, { headers: noStore })
}

/** One answer for every code that opens nothing, so that nobody learns which codes exist. */
const refusedCode = (): DomainError =>
  new DomainError('BAD_USER_INPUT', 'This code opens no session of payments: sign in once more.', { reason: 'CODE', field: 'code' })
