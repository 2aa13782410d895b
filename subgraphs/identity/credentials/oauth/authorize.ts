import { hostHeader } from '../../../../platform/caller/cause.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { Authority, CookieSession } from '../../../authority.ts'
import { readBody } from '../../../http/body.ts'
import type { Handler } from '../../../http/handlers.ts'
import type { Sentence } from '../../../http/html.ts'
import { inTransaction } from '../../../store/write.ts'
import { anonymous, type Viewer } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import type { OAuthClientRow } from '../../stores/credentials/oauth-client.ts'
import type { Asked } from '../../stores/credentials/oauth-grant.ts'
import { authorizePath } from '../names.ts'
import { loginPath } from '../pages/paths.ts'
import { deadEnd, type Fault, fault, isFault, ledTo } from './answers.ts'
import { type Parameters, parametersOf } from './parameters.ts'
import { isChallenge, isGrantable, isRegisteredRedirect, withParameters } from './rules.ts'

/** Path of the consent page. */
export const consentPath = '/identity/consent'

/** Maximum characters of a request, and of the client's values that are returned unchanged. */
const longest = { request: 8_000, state: 2_000, nonce: 500 } as const

/** Dependencies of authorization. */
export interface Authorizing {
  readonly publicUrl: string
  readonly clock: Clock
  readonly authority: Pick<Authority, 'cookie'>
  /** Creates a context with the rows that a viewer may see, for one request. */
  open(viewer: Viewer, request: Request): Context
}

/** A client's authorization request, before the person is known. */
interface Wish extends Omit<Asked, 'organizationId' | 'signedInAt' | 'askedBy'> {
  readonly prompt: ReadonlySet<string>
  /** Maximum age of a sign-in in seconds; null: the session's life. */
  readonly maxAge: number | null
}

/**
 * Handles the authorization endpoint (RFC 6749 §3.1 with RFC 7636, RFC 9207 and OpenID Connect Core §3.1.2). An unknown
 * client, or one with an unregistered redirect address, gets no redirect.
 */
export const createAuthorize =
  ({ publicUrl, clock, authority, open }: Authorizing): Handler =>
  async request => {
    const url = new URL(request.url)
    // Only the issuer's own host knows a session: another host has its own.
    const host = request.headers.get(hostHeader)
    if (host !== null && host !== new URL(publicUrl).host) return ledTo(`${publicUrl}${authorizePath}${url.search}`)
    if (url.search.length > longest.request) return strange('The request is longer than any that an application sends.')
    const { one, repeated } = parametersOf(url.searchParams)
    const context = open(anonymous, request)
    const [clientId, redirectUri] = [repeated.includes('client_id') ? null : one('client_id'), repeated.includes('redirect_uri') ? null : one('redirect_uri')]
    const client = clientId === null || clientId.includes('\0') ? null : await context.oauthClients.standing(clientId)
    if (!client) return strange('No application with this client_id is registered.')
    if (redirectUri === null || !isRegisteredRedirect(client.redirectUris, redirectUri))
      return strange(['The application ', { name: client.name }, ' is not registered with the address to which you would be led back, so you are led nowhere.'])
    const state = repeated.includes('state') ? null : one('state')
    const back = ({ fault: error, description }: Fault) =>
      ledTo(withParameters(redirectUri, { error, error_description: description, state: (state?.length ?? 0) > longest.state ? null : state, iss: publicUrl }))
    if (repeated.length > 0) return back(fault('invalid_request', 'A parameter came more than once.'))
    const wish = readWish(one, client, redirectUri)
    if (isFault(wish)) return back(wish)

    const silent = wish.prompt.has('none')
    const session = await authority.cookie(request.headers)
    const signedInAt = session && session !== 'stale' ? await context.oauthGrants.begun(session.sessionId) : null
    const isFresh = signedInAt && !wish.prompt.has('login') && (wish.maxAge === null || clock.now().getTime() - signedInAt.getTime() <= wish.maxAge * 1000)
    if (!session || session === 'stale' || !signedInAt || !isFresh) {
      if (silent) return back(fault('login_required', 'The person has to sign in.'))
      return ledTo(`${publicUrl}${loginPath}?${new URLSearchParams({ return_to: `${authorizePath}?${signedIn(url.searchParams)}` })}`)
    }
    const { userId } = session
    const { prompt: _, maxAge: __, ...rest } = wish
    const asked: Asked = { ...rest, organizationId: session.organizationId, signedInAt: signedInAt.toISOString(), askedBy: session.sessionId }
    const given = client.trusted ? asked.scopes : await context.oauthConsents.given(userId, client.clientId)
    const isWanting = wish.prompt.has('consent') || !asked.scopes.every(scope => given.includes(scope))
    if (isWanting && silent) return back(fault('consent_required', 'The person has to agree.'))
    const purpose = isWanting ? 'consent' : 'code'
    const clear = await inTransaction(open(personOf(session), request), unit =>
      context.oauthGrants.issue(purpose, { userId, clientId: client.clientId, asked }, unit),
    )
    return ledTo(isWanting ? `${publicUrl}${consentPath}?${new URLSearchParams({ request: clear })}` : grantedTo(asked, clear, publicUrl))
  }

/** Returns the redirect of a client with its code. */
export const grantedTo = ({ redirectUri, state }: Pick<Asked, 'redirectUri' | 'state'>, code: string, publicUrl: string): string =>
  withParameters(redirectUri, { code, state, iss: publicUrl })

/** The person of a cookie's session, as viewers are. */
export const personOf = ({ userId, organizationId, roles, context, sessionId }: CookieSession): Viewer => ({
  ...anonymous,
  kind: 'user',
  userId,
  organizationId,
  roles,
  context,
  sessionId,
})

/**
 * Handles a form like the same request by GET (OpenID Connect Core §3.1.2.1). Browsers omit the session cookie from
 * another site's form, so a well-formed request without one is redirected to GET, which carries it.
 */
export const authorizeByForm =
  ({ publicUrl, authority }: Pick<Authorizing, 'publicUrl' | 'authority'>, byGet: Handler): Handler =>
  async (request, viewer) => {
    if (!/^application\/x-www-form-urlencoded *(?:;|$)/i.test(request.headers.get('content-type') ?? ''))
      return strange('The form is not application/x-www-form-urlencoded.')
    const body = await readBody(request)
    const given = new URLSearchParams([...new URL(request.url).searchParams, ...new URLSearchParams(new TextDecoder().decode(body ?? new Uint8Array()))])
    const url = `${publicUrl}${authorizePath}?${given}`
    const headers = new Headers(request.headers)
    for (const name of ['content-type', 'content-length']) headers.delete(name)
    const session = await authority.cookie(headers)
    const answer = await byGet(new Request(url, { headers, signal: request.signal }), viewer)
    return answer.status === 400 || (session && session !== 'stale') ? answer : ledTo(url)
  }

const strange = (sentence: Sentence): Response => deadEnd(400, 'This request cannot be answered', sentence)

/**
 * Returns the request to repeat after a sign-in, without the parameters that would require another one. The client sees
 * the time of the sign-in in `auth_time`.
 */
function signedIn(given: URLSearchParams): URLSearchParams {
  const next = new URLSearchParams(given)
  const prompt = (next.get('prompt') ?? '').split(' ').filter(each => each !== 'login' && each !== '')
  if (prompt.length > 0) next.set('prompt', prompt.join(' '))
  else next.delete('prompt')
  next.delete('max_age')
  return next
}

/** Reads an authorization request. */
function readWish(one: Parameters, client: OAuthClientRow, redirectUri: string): Wish | Fault {
  const invalid = (sentence: string) => fault('invalid_request', sentence)
  for (const [name, unsupported] of unread) if (one(name) !== null) return fault(unsupported, `${name} is not read here: send each parameter by itself.`)
  if (one('response_type') === null) return invalid('response_type is missing: send code.')
  if (one('response_type') !== 'code') return fault('unsupported_response_type', 'The only response_type is code.')
  if ((one('response_mode') ?? 'query') !== 'query') return invalid('The only response_mode is query.')
  const challenge = one('code_challenge')
  if (challenge === null || one('code_challenge_method') !== 'S256' || !isChallenge(challenge))
    return invalid('code_challenge is missing or not of the method S256: send the SHA-256 of a verifier as base64url, and code_challenge_method=S256.')
  const prompt = new Set((one('prompt') ?? '').split(' ').filter(Boolean))
  if ([...prompt].some(each => !prompts.includes(each)) || (prompt.has('none') && prompt.size > 1))
    return invalid(`prompt takes ${prompts.join(', ')}, and none by itself.`)
  const maxAge = one('max_age')
  if (maxAge !== null && !/^\d{1,9}$/.test(maxAge)) return invalid('max_age takes whole seconds.')
  const [state, nonce] = [one('state'), one('nonce')]
  if ((state?.length ?? 0) > longest.state || (nonce?.length ?? 0) > longest.nonce)
    return invalid(`state takes ${longest.state} characters at most, nonce ${longest.nonce}.`)
  if ([state, nonce].some(text => text?.includes('\0') || text?.isWellFormed() === false)) return invalid('state and nonce are text.')
  const scopes = [...new Set((one('scope') ?? '').split(' ').filter(Boolean))]
  if (scopes.length === 0) return fault('invalid_scope', 'scope is missing: name what the application needs.')
  if (!scopes.every(scope => isGrantable(scope) && client.scopes.includes(scope)))
    return fault('invalid_scope', 'scope names something that this application may not ask for.')
  return { redirectUri, scopes, state, nonce, challenge, prompt, maxAge: maxAge === null ? null : Number(maxAge) }
}

const prompts: readonly string[] = ['none', 'login', 'consent', 'select_account']

/** Unsupported parameters. */
const unread = [
  ['request', 'request_not_supported'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
] as const
