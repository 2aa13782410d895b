import { decodeJwt } from 'jose'
import { DomainError, type ErrorCode, statusOf } from '../../../../platform/errors.ts'
import type { Handler } from '../../../http/handlers.ts'
import { escaped, htmlPage, leavingPage, type Sentence } from '../../../http/html.ts'
import { anonymous, type Viewer } from '../../../viewer.ts'
import type { Claims } from '../../context.ts'
import { type Forms, notOwn, refusedPage } from '../../http/form.ts'
import type { SignUp } from '../account/ground.ts'
import { authorizePath, credentialsPath } from '../names.ts'
import { loginPath, resetPath, signUpPath, verifyPath } from './paths.ts'

/** Default destination after a sign-in: the page that lists all others. */
const goesOnTo = '/'

/** Parameter, in the page's query and form, with the path of this host to continue at. */
const returnTo = 'return_to'

/** Parameter after a sign-out from a service: the page waits for a click. */
const stay = 'stay'

/** Script that submits the form of a signed-in person, where a service is to be opened. */
const goOnScript = '/docs/assets/go-on.js'

/** Values that a form shows again, and the signed-in person. */
interface Typed {
  readonly email?: string
  /** Address of the person who is signed in with this browser. */
  readonly present?: string | null
  /** Whether the page continues without a click. */
  readonly goesOn?: boolean
}

interface LoginNeeds {
  /** Origin under which clients reach the platform. */
  readonly publicUrl: string
  readonly forms: Forms
  readonly signUp: SignUp
  /** Handler of `POST …/sign-in/email`. */
  readonly signIn: Handler
  /** Handler of `POST …/sign-out`. */
  readonly signOut: Handler
  /** Returns the person who is signed in with this browser. */
  here(headers: Headers): Promise<{ readonly viewer: Viewer; readonly email: string } | null>
  /** Creates handoffs to services after a sign-in. */
  readonly handoffs: {
    /** Returns a service's callback address; null for a service that cannot be opened. */
    callbackOf(service: string): Promise<string | null>
    make(viewer: Viewer, request: Request, wanted: { readonly service: string; readonly returnTo: string | null }): Promise<{ readonly callbackUrl: string }>
  }
}

/**
 * Creates the sign-in page. Its form checks the password like `POST …/sign-in/email`, with the same counters and
 * cookie, and continues at the path of the query's `return_to`, on the host of its `service` by a handoff; after an
 * error it shows the form again. A signed-in person sees their address, and continues without a password, or signs out.
 */
export function createLoginPage({ publicUrl, forms, signUp, signIn, signOut, here, handoffs }: LoginNeeds): Handler {
  /** Returns the requested path. Anything else is ignored, because a link to this page could send people elsewhere. */
  const pathIn = (fields: URLSearchParams): string | null => {
    const path = fields.get(returnTo) ?? ''
    // Browsers read a backslash as a slash and drop white space: the path they make of it must be of this origin too.
    return /^\/(?![/\\])[!-~]*$/.test(path) && new URL(path, publicUrl).origin === new URL(publicUrl).origin ? path : null
  }

  const form = (status: number, sentence: Sentence, { path, service, leadsTo }: Place, { email = '', present = null, goesOn = false }: Typed = {}): Response =>
    forms.page(loginPath, {
      status,
      title: 'Sign in',
      sentence,
      hidden: { [returnTo]: path, service },
      ...(leadsTo !== null && { leadsTo }),
      ...(goesOn && { script: goOnScript }),
      fields: `<label>Mail address<input name="email" type="email" autocomplete="username" required value="${escaped(email)}"></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>${present === null ? '' : buttonsOf(path, present)}`,
      below: `<p><a href="${resetPath}">Forgot your password?</a></p>${signUp === 'open' ? newcomers(status) : ''}`,
    })

  /**
   * Returns the destination: a path of this host, or of the named service. A service that cannot be opened has none.
   */
  const placeIn = async (fields: URLSearchParams): Promise<Place> => {
    const service = fields.get('service')
    if (service === null || service === '') return { path: pathIn(fields), service: null, leadsTo: null }
    const callback = await handoffs.callbackOf(service)
    return callback === null ? { path: null, service: null, leadsTo: null } : { path: pathIn(fields), service, leadsTo: new URL(callback).origin }
  }

  return async (request, viewer) => {
    if (request.method === 'GET') {
      const [place, present] = [await placeIn(new URL(request.url).searchParams), await here(request.headers)]
      const asWhom: Sentence = present ? ['You are signed in as ', { name: present.email }, '. Sign in here with another account.'] : invitingSentence
      const stays = new URL(request.url).searchParams.has(stay)
      return form(200, asWhom, place, { present: present?.email ?? null, goesOn: present !== null && place.service !== null && !stays })
    }
    const { fields, isOwn } = await forms.read(request)
    const place = await placeIn(fields)
    const email = fields.get('email') ?? ''
    if (!isOwn) return form(400, notOwn, place, { email })
    if (fields.has('signOut')) return leftBehind(request, viewer)
    if (fields.has('goOn')) {
      const present = await here(request.headers)
      return present ? leave(request, place, present.viewer) : form(401, 'You are not signed in any more.', place, { email })
    }
    const body = { email: email.trim(), password: fields.get('password') ?? '' }
    const answer = await forms.ask(signIn, request, `${credentialsPath}/sign-in/email`, body, viewer)
    if (!answer.ok) return refusedPage(form(answer.status, answer.body.detail as string, place, { email }), answer)
    const goingOn = await leave(request, place, viewerOf(String(answer.body.accessToken)))
    for (const line of answer.headers.getSetCookie()) goingOn.headers.append('set-cookie', line)
    return goingOn
  }

  /** Ends the session of this browser. */
  async function leftBehind(request: Request, nobody: Viewer): Promise<Response> {
    const headers = { cookie: request.headers.get('cookie') ?? '', origin: publicUrl }
    const answer = await signOut(new Request(`${publicUrl}${credentialsPath}/sign-out`, { method: 'POST', headers }), nobody)
    const page = htmlPage(200, 'You are signed out', 'Nobody is signed in to this browser any more.', `<p><a href="${loginPath}">Sign in</a></p>`)
    for (const line of answer.headers.getSetCookie()) page.headers.append('set-cookie', line)
    return page
  }

  /** Redirects the signed-in person, or explains why that is impossible. */
  async function leave(request: Request, { path, service }: Place, viewer: Viewer): Promise<Response> {
    const to = (location: string) => new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } })
    // That page may redirect to another origin.
    if (service === null && path?.startsWith(`${authorizePath}?`)) return leavingPage(path, 'You are signed in, and are being led back to the application.')
    if (service === null) return to(path ?? goesOnTo)
    try {
      return to((await handoffs.make(viewer, request, { service, returnTo: path })).callbackUrl)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      const page = '<p><a href="/">To the platform’s own page</a></p>'
      return htmlPage(statusOf[error.extensions.code as ErrorCode], 'You are signed in', `But the service cannot be opened. ${error.message}`, page)
    }
  }
}

const invitingSentence = 'With the mail address and password of your account.'

/**
 * Buttons for a signed-in person. An application's request needs the password, or another account. Enter presses the
 * first button.
 */
const buttonsOf = (path: string | null, email: string): string => {
  const goOn = path?.startsWith(`${authorizePath}?`) ? '' : `\n<button name="goOn" formnovalidate>Continue as ${escaped(email)}</button>`
  return `${goOn}\n<button name="signOut" formnovalidate>Sign out</button>`
}

/**
 * Hints for people without an account, or with an unverified address: because the sign-in does not reveal which, every
 * failed one shows them.
 */
const newcomers = (status: number): string =>
  `${status === 401 ? `<p>Signed up, and your address is not confirmed yet? <a href="${verifyPath}">Ask for another mail</a></p>` : ''}<p>No account yet? <a href="${signUpPath}">Create one</a></p>`

/** Destination after a sign-in. */
interface Place {
  readonly path: string | null
  readonly service: string | null
  /** Origin of the redirect after the form, when it is another one. */
  readonly leadsTo: string | null
}

/** Returns the viewer of a token that was just issued. */
function viewerOf(accessToken: string): Viewer {
  const { sub, sid, org, ctx } = decodeJwt<Claims>(accessToken)
  return { ...anonymous, kind: 'user', userId: sub!, sessionId: sid, organizationId: org ?? null, context: ctx }
}
