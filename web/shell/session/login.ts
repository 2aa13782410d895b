import { app, authPath, base } from '../place.ts'
import { returnPath } from './return.ts'
import { keepToken, type Token } from './token.ts'

/**
 * The script of `/login` and `/callback`. It stands before the form, works before anything was answered, and nothing that is answered
 * later clears or locks what somebody types.
 */
const keepsToken = app !== 'launcher'
let isTouched = false

/** Goes on after sign-in, to a path of this host or the app's start. @param wanted the path @default `return_to` of this address */
function goOn(wanted = new URLSearchParams(location.search).get('return_to')): void {
  location.replace(`${base}${returnPath(wanted) ?? document.documentElement.dataset.start ?? '/'}`)
}

addEventListener('input', () => {
  isTouched = true
})

addEventListener('submit', event => {
  event.preventDefault()
  void signIn(event.target as HTMLFormElement)
})

async function signIn(form: HTMLFormElement): Promise<void> {
  isTouched = true
  const [email, password] = ['email', 'password'].map(name => form.elements.namedItem(name) as HTMLInputElement) as [HTMLInputElement, HTMLInputElement]
  tell(null)
  form.setAttribute('aria-busy', 'true')
  const answer = await post('sign-in/email', { email: email.value, password: password.value }).catch(() => null)
  form.removeAttribute('aria-busy')
  if (answer?.ok) return taken((await answer.json()) as Token)
  if (answer?.status === 429) return tell('wait', { minutes: String(Math.max(1, Math.ceil(Number(answer.headers.get('retry-after') ?? 60) / 60))) })
  if (!answer || answer.status >= 500) return tell('away')
  password.value = ''
  password.focus()
  tell('wrong')
}

/** Goes on with a session that was just made. Where a cookie says it, identity is asked first whether it does. @param wanted as `goOn` takes it */
async function taken(token: Token, wanted?: string | null): Promise<void> {
  if (keepsToken) {
    keepToken(token)
    return goOn(wanted)
  }
  const me = await fetch(authPath('me')).catch(() => null)
  if (!me?.ok) return tell('away')
  const { onboarding } = (await me.json()) as { readonly onboarding?: { readonly next?: string } }
  if (onboarding?.next === '/onboarding') return location.replace(`${base}/onboarding`)
  goOn(wanted)
}

const post = (route: string, body: object) =>
  fetch(authPath(route), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

/** Says one of the sentences that the document brings; null takes back what was said. */
function tell(what: string | null, values: Readonly<Record<string, string>> = {}): void {
  const line = document.querySelector<HTMLElement>('[role=alert]')
  if (!line) return
  line.hidden = what === null
  line.textContent = (line.dataset[what ?? ''] ?? '').replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
}

/** Exchanges the code of a handoff for a session, and goes where the handoff leads. The address loses the code before anything else is done. */
async function exchange(): Promise<void> {
  const code = new URLSearchParams(location.search).get('sso_code')
  history.replaceState(null, '', `${base}/callback`)
  const answer = await post('sso/exchange', { code }).catch(() => null)
  if (answer?.ok) {
    const { returnTo, ...token } = (await answer.json()) as Token & { readonly returnTo: string | null }
    return taken(token, returnTo)
  }
  document.querySelector<HTMLElement>('[data-state=loading]')?.remove()
  tell(answer && answer.status < 500 ? 'refused' : 'away')
}

/** Whoever is signed in at this host already goes on, unless they have begun to type. */
async function continueSession(): Promise<void> {
  const answer = await fetch(authPath('token')).catch(() => null)
  if (!answer?.ok) return
  const token = (await answer.json()) as Token
  if (isTouched) return
  keepToken(token)
  goOn()
}

if (location.pathname === `${base}/callback`) addEventListener('DOMContentLoaded', () => void exchange())
else if (keepsToken) void continueSession()
