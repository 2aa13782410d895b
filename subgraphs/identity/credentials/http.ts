import { codeOf, type ErrorCode, Refusal, statusOf } from '../../../platform/errors.ts'
import type { Authority } from '../../authority.ts'
import { isMailAddress } from '../mail-address.ts'
import type { OwnSession } from '../session/ending.ts'
import type { createAttempts, Outcome } from './attempts.ts'
import type { Auth } from './auth.ts'
import { credentialsPath } from './names.ts'
import { distinctSentence, isDistinct, longestPassword } from './password.ts'

/** The longest body that a credential endpoint reads, in bytes. */
const longestBody = 16 * 1024

interface Bridge {
  readonly auth: () => Promise<Auth>
  readonly attempts: ReturnType<typeof createAttempts>
  readonly authority: Authority
  readonly clientAddressHeader: string
  /** The session of an access token. @throws UNAUTHENTICATED for what is none */
  sessionOf(authorization: string): Promise<OwnSession>
  endSession(session: OwnSession): Promise<void>
}

/**
 * Serves sign-in, sign-out, renewal of tokens and the public keys under `/identity/api/auth`; every other address of the
 * credential library is 404. Refusals are `application/problem+json` (RFC 9457).
 */
export function createHttp(bridge: Bridge): (request: Request) => Promise<Response> {
  const routes: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    'POST /sign-in/email': request => signIn(bridge, request),
    'POST /sign-out': request => signOut(bridge, request),
    'GET /token': request => pass(bridge, request),
    'GET /jwks': () => publicKeys(bridge),
  }
  return async request => {
    const { pathname } = new URL(request.url)
    const route = pathname.startsWith(`${credentialsPath}/`) ? routes[`${request.method} ${pathname.slice(credentialsPath.length)}`] : undefined
    try {
      if (!route) throw new Refusal('NOT_FOUND', `There is nothing at ${request.method} ${pathname}.`)
      return await route(request)
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      const { message, extensions } = error as Refusal
      return problem(request, extensions.code as ErrorCode, message, extensions.retryAfter as number | undefined)
    }
  }
}

async function signIn(bridge: Bridge, request: Request): Promise<Response> {
  const body = await readBody(request)
  const email = readEmail(request, body)
  const address = request.headers.get(bridge.clientAddressHeader) ?? 'unknown'
  const tried = await bridge.attempts.run({ email, address }, async () => {
    const answer = await handle(bridge, request, body)
    return { answer, outcome: await outcomeOf(answer) }
  })
  if ('answer' in tried) return said(request, tried.answer, 'The mail address or the password is wrong.')
  const retryAfter = Math.ceil(tried.wait / 1000)
  const [count, unit] = retryAfter < 60 ? [retryAfter, 'second'] : [Math.ceil(retryAfter / 60), 'minute']
  throw new Refusal('RATE_LIMITED', `Too many attempts failed: try again in ${count} ${unit}${count === 1 ? '' : 's'}.`, { retryAfter })
}

async function pass(bridge: Bridge, request: Request): Promise<Response> {
  return said(request, await handle(bridge, request, await readBody(request)), 'There is no session: sign in first.')
}

/** Ends the session of the cookie, and the one of an access token: whoever keeps no cookies has nothing else to send. */
async function signOut(bridge: Bridge, request: Request): Promise<Response> {
  const authorization = request.headers.get('authorization')
  const named = authorization === null ? null : await bridge.sessionOf(authorization)
  const answer = await pass(bridge, request)
  if (named && answer.ok) await bridge.endSession(named)
  return answer
}

async function publicKeys({ auth, authority }: Bridge): Promise<Response> {
  let keys = await authority.jwks()
  if (keys.keys.length === 0) {
    await (await auth()).ensureSigningKey()
    keys = await authority.jwks()
  }
  return Response.json(keys, { headers: { 'cache-control': 'public, max-age=60' } })
}

/** Hands the untouched body on; a client that is not a browser does not get to look like one. */
async function handle({ auth }: Bridge, request: Request, body: Uint8Array<ArrayBuffer> | null): Promise<Response> {
  const headers = new Headers(request.headers)
  // Some HTTP clients send fetch metadata and no Origin; the library takes them for a browser that hides its origin.
  if (!headers.has('origin') && !headers.has('cookie')) for (const name of ['mode', 'site', 'dest']) headers.delete(`sec-fetch-${name}`)
  return (await auth()).handle(new Request(request.url, { method: request.method, headers, body }))
}

async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  if (request.method === 'GET' || !request.body) return null
  const body = await request.bytes()
  if (body.byteLength > longestBody) throw new Refusal('BAD_USER_INPUT', `The body is longer than ${longestBody} bytes.`)
  return body.byteLength === 0 ? null : body
}

/** Checks both fields before a password is tried; only the address is needed here. */
function readEmail(request: Request, body: Uint8Array | null): string {
  const { email, password } = fieldsOf(request.headers.get('content-type') ?? '', new TextDecoder().decode(body ?? new Uint8Array()))
  if (!isMailAddress(email))
    throw new Refusal('BAD_USER_INPUT', 'email is missing or not a mail address: send { "email", "password" } as JSON.', { field: 'email' })
  if (typeof password !== 'string' || password.length === 0 || password.length > longestPassword)
    throw new Refusal('BAD_USER_INPUT', `password takes 1 to ${longestPassword} characters: send { "email", "password" } as JSON.`, { field: 'password' })
  if (!isDistinct(password)) throw new Refusal('BAD_USER_INPUT', `password takes characters ${distinctSentence}: type it again.`, { field: 'password' })
  return email
}

function fieldsOf(contentType: string, text: string): Record<string, unknown> {
  if (contentType.startsWith('application/x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(text))
  if (!contentType.startsWith('application/json')) throw new Refusal('BAD_USER_INPUT', 'The content type is not application/json.')
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // The sentence below says it.
  }
  throw new Refusal('BAD_USER_INPUT', 'The body is not a JSON object.')
}

async function outcomeOf(answer: Response): Promise<Outcome> {
  if (answer.status === 401) return 'wrong'
  if (!answer.ok) return 'not tried'
  const { user } = (await answer.clone().json()) as { user: { id: string } }
  return { userId: user.id }
}

/** Passes a good answer on, and says a bad one in the platform's own words. */
function said(request: Request, answer: Response, unauthenticated: string): Response {
  if (answer.status < 400) return answer
  const code = codes[answer.status]
  if (!code) throw new Error(`the credential library answered ${answer.status} to ${request.method} ${new URL(request.url).pathname}`)
  return problem(request, code, code === 'UNAUTHENTICATED' ? unauthenticated : sentences[code], undefined, answer.headers.getSetCookie())
}

const codes: Readonly<Record<number, 'BAD_USER_INPUT' | 'UNAUTHENTICATED' | 'FORBIDDEN'>> = {
  400: 'BAD_USER_INPUT',
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN',
  415: 'BAD_USER_INPUT',
  422: 'BAD_USER_INPUT',
}

const sentences = {
  BAD_USER_INPUT: 'The request could not be read: check its content type and its fields.',
  FORBIDDEN: 'Requests with a cookie, or from another page, must come from an origin that the platform trusts.',
}

function problem(request: Request, code: ErrorCode, detail: string, retryAfter?: number, cookies: readonly string[] = []): Response {
  const status = statusOf[code]
  const requestId = request.headers.get('x-request-id')
  const body = { type: 'about:blank', title: titles[code] ?? code, status, detail, code, ...(requestId && { requestId }) }
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
  RATE_LIMITED: 'Too many attempts',
}
