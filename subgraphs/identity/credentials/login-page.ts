import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { escaped, formOf, htmlPage } from '../../html.ts'
import { cookiePrefix, credentialsPath } from './names.ts'

/** Where a person signs in with a browser. */
export const loginPath = '/identity/login'

/** Where the browser goes then, unless it came from a place of ours: to the page that names every other. */
const goesOnTo = '/'

/** Names, in the page's query and in its form, the path of this host to which it goes on. */
const returnTo = 'return_to'

/** Holds the half of a secret that no other site's page can send: the form's hidden field holds the same. */
const formCookie = `${cookiePrefix}.login`

interface LoginNeeds {
  /** Origin under which clients reach the platform. */
  readonly publicUrl: string
  readonly clientAddressHeader: string
  /** Answers the credential endpoints. */
  readonly credentials: (request: Request) => Promise<Response>
}

/**
 * Serves the page on which a person signs in: its form tries the password as `POST …/sign-in/email` does, with its counts and its
 * cookie, and leads on, to the path that the query's `return_to` names; what is refused comes back with the form. Pages of other sites cannot send the form for somebody (login CSRF).
 */
export function createLoginPage({ publicUrl, clientAddressHeader, credentials }: LoginNeeds): (request: Request) => Promise<Response> {
  const secure = publicUrl.startsWith('https:')

  /** The path that was asked for. Anything else would let a link to this page send people elsewhere, so it is ignored. */
  const pathIn = (fields: URLSearchParams): string | null => {
    const path = fields.get(returnTo) ?? ''
    // Browsers take a backslash for a slash, and leave white space out: what they make of the path has to be of this origin too.
    return /^\/(?![/\\])[!-~]*$/.test(path) && new URL(path, publicUrl).origin === new URL(publicUrl).origin ? path : null
  }

  const form = (status: number, sentence: string, path: string | null, typed: { readonly email?: string } = {}): Response => {
    const token = randomBytes(16).toString('base64url')
    const answer = htmlPage(
      status,
      'Sign in',
      sentence,
      `<form method="post" action="${loginPath}">
<input type="hidden" name="token" value="${token}">${path === null ? '' : `\n<input type="hidden" name="${returnTo}" value="${escaped(path)}">`}
<label>Mail address<input name="email" type="email" autocomplete="username" required value="${escaped(typed.email ?? '')}"></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>`,
    )
    const cookie = { name: formCookie, value: token, maxAge: 3600, path: loginPath, httpOnly: true, sameSite: 'strict', secure } as const
    answer.headers.append('set-cookie', stringifySetCookie(cookie))
    return answer
  }

  return async request => {
    if (request.method === 'GET') return form(200, 'With the mail address and password of your account.', pathIn(new URL(request.url).searchParams))
    const fields = await formOf(request)
    const path = pathIn(fields)
    const email = fields.get('email') ?? ''
    if (!isOwn(fields.get('token'), parseCookie(request.headers.get('cookie') ?? '')[formCookie]))
      return form(400, 'This form was open for too long, or your browser keeps no cookies: send it again.', path, { email })
    const headers = new Headers({ 'content-type': 'application/json', origin: publicUrl })
    for (const name of [clientAddressHeader, 'user-agent']) if (request.headers.has(name)) headers.set(name, request.headers.get(name)!)
    const body = JSON.stringify({ email: email.trim(), password: fields.get('password') ?? '' })
    const answer = await credentials(new Request(`${publicUrl}${credentialsPath}/sign-in/email`, { method: 'POST', headers, body }))
    if (answer.ok) {
      const leaving = new Headers({ location: path ?? goesOnTo, 'cache-control': 'no-store' })
      for (const line of answer.headers.getSetCookie()) leaving.append('set-cookie', line)
      return new Response(null, { status: 303, headers: leaving })
    }
    const { detail } = (await answer.json()) as { detail: string }
    const refused = form(answer.status, detail, path, { email })
    const retryAfter = answer.headers.get('retry-after')
    if (retryAfter) refused.headers.set('retry-after', retryAfter)
    return refused
  }
}

function isOwn(sent: string | null, kept: string | undefined): boolean {
  if (!sent || !kept) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(sent), digest(kept))
}
