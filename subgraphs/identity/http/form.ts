import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { answering, type Handler } from '../../http/handlers.ts'
import { escaped, formOf, htmlPage, type Sentence } from '../../http/html.ts'
import type { Viewer } from '../../viewer.ts'

/** A page with one form, which posts to the page's own path. */
export interface FormPage {
  readonly status: number
  readonly title: string
  readonly sentence: Sentence
  /** HTML of the fields and the button; external values are escaped by `escaped` first. */
  readonly fields: string
  /** Hidden fields; null ones are omitted. */
  readonly hidden?: Readonly<Record<string, string | null>>
  /** HTML below the form, such as links. */
  readonly below?: string
  /**
   * Origin to which the form's answer redirects the browser, if another one: browsers follow only origins that the page
   * names.
   */
  readonly leadsTo?: string
  /** A script of the platform's own that works on the form. @default the page has none */
  readonly script?: string
}

/** Data of a submitted form. */
export interface Sent {
  readonly fields: URLSearchParams
  /**
   * Whether the page itself sent the form. Otherwise another site may have sent it in a visitor's name, and nothing is
   * done.
   */
  readonly isOwn: boolean
}

/** A route's answer to the body built from a form's fields. */
export interface RowAnswer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  /**
   * The JSON body; for an error its problem document: `detail` is a sentence for people, `field` and `reason` identify
   * the case.
   */
  readonly body: Readonly<Record<string, unknown>>
}

/** Message above the form again, when `isOwn` was false. */
export const notOwn = 'This form was open for too long, or your browser keeps no cookies: send it again.'

export type Forms = ReturnType<typeof createForms>

/**
 * Creates pages with forms, and reads their submissions. Other sites cannot submit one for a visitor (CSRF, RFC 6749
 * §10.12, login CSRF included): a hidden field holds the same random token as a cookie of the page's path, and the
 * browser must report our own origin.
 */
export function createForms({ publicUrl, clientAddressHeader }: { readonly publicUrl: string; readonly clientAddressHeader: string }) {
  const secure = publicUrl.startsWith('https:')
  const name = `${secure ? '__Secure-' : ''}identity.form`

  return {
    /** Shows a page. @param path its own, to which the form is sent and to which the cookie is limited */
    page(path: string, { status, title, sentence, fields, hidden = {}, below = '', leadsTo, script }: FormPage): Response {
      const token = randomBytes(16).toString('base64url')
      const unseen = Object.entries({ token, ...hidden })
        .filter((entry): entry is [string, string] => entry[1] !== null)
        .map(([field, value]) => `<input type="hidden" name="${escaped(field)}" value="${escaped(value)}">`)
      const answer = htmlPage(
        status,
        title,
        sentence,
        `<form method="post" action="${path}">\n${unseen.join('\n')}\n${fields}\n</form>${below}${script === undefined ? '' : `<script src="${script}" defer></script>`}`,
      )
      const policy = answer.headers.get('content-security-policy')!
      const reach = leadsTo === undefined ? policy : policy.replace("form-action 'self'", `form-action 'self' ${leadsTo}`)
      answer.headers.set('content-security-policy', script === undefined ? reach : `${reach}; script-src 'self'`)
      answer.headers.append('set-cookie', stringifySetCookie({ name, value: token, maxAge: 3600, path, httpOnly: true, sameSite: 'strict', secure }))
      return answer
    },

    async read(request: Request): Promise<Sent> {
      const fields = await formOf(request)
      // A neighbouring host may have set our cookie for both hosts; a page cannot choose the Origin of its form.
      const isForeign = /^(?:cross|same)-site$/.test(request.headers.get('sec-fetch-site') ?? '')
      return { fields, isOwn: !isForeign && isSame(fields.get('token'), parseCookie(request.headers.get('cookie') ?? '')[name]) }
    },

    /**
     * Calls a route's handler with this body like a program, on behalf of the form's sender: with the same counters,
     * and without cookies.
     * @param path of the route: `/identity/api/auth/sign-in/email`
     */
    async ask(exchange: Handler, request: Request, path: string, body: Readonly<Record<string, unknown>>, viewer: Viewer): Promise<RowAnswer> {
      const headers = new Headers({ 'content-type': 'application/json', origin: publicUrl })
      for (const told of [clientAddressHeader, 'user-agent', 'x-request-id']) if (request.headers.has(told)) headers.set(told, request.headers.get(told)!)
      const init = { method: 'POST', headers, body: JSON.stringify(body), signal: request.signal }
      const answer = await answering({ [`POST ${path}`]: exchange })(new Request(`${publicUrl}${path}`, init), viewer)
      const text = await answer.text()
      return { status: answer.status, ok: answer.ok, headers: answer.headers, body: text === '' ? {} : (JSON.parse(text) as RowAnswer['body']) }
    },
  }
}

/** Compares in constant time, whatever their lengths. */
function isSame(sent: string | null, kept: string | undefined): boolean {
  if (!sent || !kept) return false
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(sent), digest(kept))
}

/** Shows the form again after an error, with the time to wait if there is one. */
export function refusedPage(page: Response, { headers }: RowAnswer): Response {
  const retryAfter = headers.get('retry-after')
  if (retryAfter) page.headers.set('retry-after', retryAfter)
  return page
}
