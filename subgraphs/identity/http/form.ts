import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { answering, type Exchange } from '../../http/exchanges.ts'
import { escaped, formOf, htmlPage, type Sentence } from '../../http/html.ts'
import type { Viewer } from '../../viewer.ts'

/** A page that holds one form, which posts to the page's own path. */
export interface FormPage {
  readonly status: number
  readonly title: string
  readonly sentence: Sentence
  /** HTML of the fields and the button; what comes from outside goes through `escaped` first. */
  readonly fields: string
  /** What travels with the form unseen; null is left out. */
  readonly hidden?: Readonly<Record<string, string | null>>
  /** HTML below the form: where else to go. */
  readonly below?: string
  /** The origin to which the answer to the form leads the browser, where that is another: it goes to no origin that the page does not name. */
  readonly leadsTo?: string
  /** A script of the platform's own that works on the form. @default the page has none */
  readonly script?: string
}

/** What a page's form has sent. */
export interface Sent {
  readonly fields: URLSearchParams
  /** Whether the page itself sent it. Anything else may be another site's, in the name of whoever opened that: nothing is done. */
  readonly isOwn: boolean
}

/** What a row has answered to the body that a form's fields became. */
export interface RowAnswer {
  readonly status: number
  readonly ok: boolean
  readonly headers: Headers
  /** The JSON body; of a refusal its problem: `detail` is a sentence for people, `field` and `reason` say which case it is. */
  readonly body: Readonly<Record<string, unknown>>
}

/** To be said, with the form again, of what was not `isOwn`. */
export const notOwn = 'This form was open for too long, or your browser keeps no cookies: send it again.'

export type Forms = ReturnType<typeof createForms>

/**
 * Pages with a form, and what their forms send. Pages of other sites cannot send one for somebody (CSRF, RFC 6749 §10.12, login CSRF too): a
 * hidden field holds the same random token as a cookie of the page's path, and a browser says that one of ours has sent it.
 */
export function createForms({ publicUrl, clientAddressHeader }: { readonly publicUrl: string; readonly clientAddressHeader: string }) {
  const secure = publicUrl.startsWith('https:')
  const name = `${secure ? '__Secure-' : ''}identity.form`

  return {
    /** Shows a page. @param path its own, to which the form is sent and the cookie kept */
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
     * Asks an exchange as a program would that sends this body, in the name of whoever sent the form: with the same counts, and no cookie.
     * @param path of the row: `/identity/api/auth/sign-in/email`
     */
    async ask(exchange: Exchange, request: Request, path: string, body: Readonly<Record<string, unknown>>, viewer: Viewer): Promise<RowAnswer> {
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

/** Shows the form again after a refusal, which says when to come again if it was too often. */
export function refusedPage(page: Response, { headers }: RowAnswer): Response {
  const retryAfter = headers.get('retry-after')
  if (retryAfter) page.headers.set('retry-after', retryAfter)
  return page
}
