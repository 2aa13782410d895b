import { decodeJwt } from 'jose'
import { type ErrorCode, Refusal, statusOf } from '../../../../platform/errors.ts'
import type { Exchange } from '../../../http/exchanges.ts'
import { escaped, htmlPage, leavingPage, type Sentence } from '../../../http/html.ts'
import { anonymous, type Viewer } from '../../../viewer.ts'
import type { Claims } from '../../context.ts'
import { type Forms, notOwn, refusedPage } from '../../http/form.ts'
import type { SignUp } from '../account/ground.ts'
import { authorizePath, credentialsPath } from '../names.ts'
import { loginPath, resetPath, signUpPath, verifyPath } from './paths.ts'

/** Where the browser goes then, unless it came from a place of ours: to the page that names every other. */
const goesOnTo = '/'

/** Names, in the page's query and in its form, the path of this host to which it goes on. */
const returnTo = 'return_to'

/** In the query of who has just signed out of a service: the page waits for a press. */
const stay = 'stay'

/** Sends the form of who is signed in already, where a service is to be opened. */
const goOnScript = '/docs/assets/go-on.js'

/** What a form says again, and who is there. */
interface Typed {
  readonly email?: string
  /** Who is signed in at this browser. */
  readonly present?: string | null
  /** Whether the page goes on without a press. */
  readonly goesOn?: boolean
}

interface LoginNeeds {
  /** Origin under which clients reach the platform. */
  readonly publicUrl: string
  readonly forms: Forms
  readonly signUp: SignUp
  /** Answers `POST …/sign-in/email`. */
  readonly signIn: Exchange
  /** Answers `POST …/sign-out`. */
  readonly signOut: Exchange
  /** Who is signed in at this browser. */
  here(headers: Headers): Promise<{ readonly viewer: Viewer; readonly email: string } | null>
  /** Handoffs to services, for who has just signed in. */
  readonly handoffs: {
    /** Where browsers come back to a service of this slug; null for one that nobody opens. */
    callbackOf(service: string): Promise<string | null>
    make(viewer: Viewer, request: Request, wanted: { readonly service: string; readonly returnTo: string | null }): Promise<{ readonly callbackUrl: string }>
  }
}

/**
 * Serves the page on which a person signs in: its form tries the password as `POST …/sign-in/email` does, with its counts and its
 * cookie, and leads on, to the path that the query's `return_to` names, on the host of the `service` that it names by a handoff; what is
 * refused comes back with the form. Who is signed in at this browser already is told as whom, and goes on without a password, or signs out.
 */
export function createLoginPage({ publicUrl, forms, signUp, signIn, signOut, here, handoffs }: LoginNeeds): Exchange {
  /** The path that was asked for. Anything else would let a link to this page send people elsewhere, so it is ignored. */
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

  /** Where it goes on to: a path of this host, or of the service that is named. A service that nobody opens has none. */
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
    const page = htmlPage(200, 'You are signed out', 'Nobody is signed in at this browser any more.', `<p><a href="${loginPath}">Sign in</a></p>`)
    for (const line of answer.headers.getSetCookie()) page.headers.append('set-cookie', line)
    return page
  }

  /** Leads on who has signed in, or says why that cannot be. */
  async function leave(request: Request, { path, service }: Place, viewer: Viewer): Promise<Response> {
    const to = (location: string) => new Response(null, { status: 303, headers: { location, 'cache-control': 'no-store' } })
    // That page may redirect to another origin.
    if (service === null && path?.startsWith(`${authorizePath}?`)) return leavingPage(path, 'You are signed in, and are being led back to the application.')
    if (service === null) return to(path ?? goesOnTo)
    try {
      return to((await handoffs.make(viewer, request, { service, returnTo: path })).callbackUrl)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const page = '<p><a href="/">To the platform’s own page</a></p>'
      return htmlPage(statusOf[error.extensions.code as ErrorCode], 'You are signed in', `But the service cannot be opened. ${error.message}`, page)
    }
  }
}

const invitingSentence = 'With the mail address and password of your account.'

/** For who is signed in already; an application that leads here wants the password, or another account. Enter goes to the button before them. */
const buttonsOf = (path: string | null, email: string): string => {
  const goOn = path?.startsWith(`${authorizePath}?`) ? '' : `\n<button name="goOn" formnovalidate>Continue as ${escaped(email)}</button>`
  return `${goOn}\n<button name="signOut" formnovalidate>Sign out</button>`
}

/** For who has no account, or has not confirmed its address: of that the answer to a sign-in tells nobody, so a refused one says it to everybody. */
const newcomers = (status: number): string =>
  `${status === 401 ? `<p>Signed up, and your address is not confirmed yet? <a href="${verifyPath}">Ask for another mail</a></p>` : ''}<p>No account yet? <a href="${signUpPath}">Create one</a></p>`

/** Where a sign-in goes on to. */
interface Place {
  readonly path: string | null
  readonly service: string | null
  /** The origin to which the answer to the form leads, when that is another. */
  readonly leadsTo: string | null
}

/** Who has just been given this token. */
function viewerOf(accessToken: string): Viewer {
  const { sub, sid, org, ctx } = decodeJwt<Claims>(accessToken)
  return { ...anonymous, kind: 'user', userId: sub!, sessionId: sid, organizationId: org ?? null, context: ctx }
}
