import { DomainError } from '../../../platform/errors.ts'
import { isMailAddress } from '../../../platform/smtp/mail-address.ts'
import type { Authority } from '../../authority.ts'
import { fieldsOf, readBody } from '../../http/body.ts'
import type { Handlers } from '../../http/handlers.ts'
import { problem } from '../../http/problem.ts'
import type { Admission } from './account/admission.ts'
import type { Auth } from './auth.ts'
import { byAddressPath, isOfLibrary } from './by-address.ts'
import { type createAttempts, type Outcome, tooManyAttempts } from './guessing/attempts.ts'
import { credentialsPath } from './names.ts'
import { readPassword } from './password.ts'

interface Bridge {
  readonly auth: () => Promise<Auth>
  readonly attempts: ReturnType<typeof createAttempts>
  readonly authority: Authority
  readonly admission: Admission
  readonly clientAddressHeader: string
}

/** Handlers of sign-in and the public keys, under `/identity/api/auth`. */
export const credentialHandlers = (bridge: Bridge): Handlers => ({
  [`POST ${credentialsPath}/sign-in/email`]: request => signIn(bridge, request),
  [`GET ${credentialsPath}/jwks`]: () => publicKeys(bridge),
})

async function signIn(bridge: Bridge, request: Request): Promise<Response> {
  const body = await readBody(request)
  const email = readEmail(request, body)
  const address = request.headers.get(bridge.clientAddressHeader) ?? 'unknown'
  const tried = await bridge.attempts.run({ email, address }, async () => {
    const answer = await bridge.admission.run(() => handle(bridge, request, body, email))
    return { answer, outcome: await outcomeOf(answer) }
  })
  if ('answer' in tried) return said(request, tried.answer, 'The mail address or the password is wrong.')
  throw tooManyAttempts(tried.wait)
}

async function publicKeys({ authority }: Bridge): Promise<Response> {
  let keys = await authority.jwks()
  if (keys.keys.length === 0) {
    await authority.ready()
    keys = await authority.jwks()
  }
  return Response.json(keys, { headers: { 'cache-control': 'public, max-age=60' } })
}

/** Passes the unchanged body on; a client that is not a browser cannot pose as one. */
async function handle({ auth }: Bridge, request: Request, body: Uint8Array<ArrayBuffer> | null, email: string): Promise<Response> {
  const headers = new Headers(request.headers)
  // Some HTTP clients send fetch metadata and no Origin; the library takes them for a browser that hides its origin.
  if (!headers.has('origin') && !headers.has('cookie')) for (const name of ['mode', 'site', 'dest']) headers.delete(`sec-fetch-${name}`)
  const url = isOfLibrary(email) ? request.url : new URL(`${credentialsPath}${byAddressPath}`, request.url)
  return (await auth()).handle(new Request(url, { method: request.method, headers, body }))
}

/** Validates both fields before a password is tried; only the address is used here. */
function readEmail(request: Request, body: Uint8Array | null): string {
  const { email, password } = fieldsOf(request.headers.get('content-type') ?? '', body)
  if (!isMailAddress(email))
    throw new DomainError('BAD_USER_INPUT', 'email is missing or not a mail address: send { "email", "password" } as JSON.', { field: 'email' })
  readPassword(password, 'password')
  return email
}

async function outcomeOf(answer: Response): Promise<Outcome> {
  if (answer.status === 401) return 'wrong'
  if (!answer.ok) return 'not tried'
  const { user } = (await answer.clone().json()) as { user: { id: string } }
  return { userId: user.id }
}

/** Passes a successful answer on, and rewrites an error in the platform's format. */
function said(request: Request, answer: Response, unauthenticated: string): Response {
  if (answer.status < 400) return answer
  const code = codes[answer.status]
  if (!code) throw new Error(`the credential library answered ${answer.status} to ${request.method} ${new URL(request.url).pathname}`)
  return problem(request, code, code === 'UNAUTHENTICATED' ? unauthenticated : sentences[code], {}, answer.headers.getSetCookie())
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
