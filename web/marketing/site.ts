/** The script of the marketing site: the decision about cookies, and forms that stay where they are. Without it the pages work too. */

import { type Challenge, solve } from '../shell/data/solve.ts'

const key = 'supergraph.consent'
/** The version of the privacy page that a decision is about. */
const policyVersion = '2026-11'

interface Decision {
  readonly decision: 'accept' | 'decline'
  /** When the person decided, ISO 8601. */
  readonly at: string
  /** The browser's own random id, by which its later decisions replace this one. */
  readonly subjectId: string
  /** Whether the platform has it. */
  readonly isSent: boolean
}

function readDecision(): Decision | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') as Decision | null
  } catch {
    return null
  }
}

/** Returns the address of a route: the site's own host has it without the prefix of its service. */
const addressOf = (path: string): string => (document.documentElement.dataset.base ? `/launcher${path}` : path)

const keep = (decision: Decision) => localStorage.setItem(key, JSON.stringify(decision))

/** Tells the platform what was decided, once. What does not arrive is tried again when the line is back, or on the next page. */
async function sendDecision(): Promise<void> {
  const kept = readDecision()
  if (!kept || kept.isSent) return
  const { decision, at: decidedAt, subjectId } = kept
  const isAllowed = decision === 'accept'
  const purposes = { analytics: isAllowed, personalization: isAllowed, advertising: isAllowed }
  const body = JSON.stringify({ subjectId, decision, purposes, policyVersion, decidedAt })
  const answer = await fetch(addressOf('/api/consent'), { method: 'PUT', headers: { 'content-type': 'application/json' }, body, keepalive: true }).catch(
    () => null,
  )
  if (answer?.ok) keep({ ...kept, isSent: true })
}

function begin(): void {
  const banner = document.querySelector<HTMLElement>('.consent')
  if (!banner) return
  const show = (isShown: boolean) => {
    banner.hidden = !isShown
  }
  for (const decision of ['accept', 'decline'] as const)
    banner.querySelector(`[data-decision=${decision}]`)?.addEventListener('click', () => {
      // It is kept here before anything is sent.
      keep({ decision, at: new Date().toISOString(), subjectId: readDecision()?.subjectId ?? crypto.randomUUID(), isSent: false })
      show(false)
      void sendDecision()
    })
  document.querySelector<HTMLElement>('[data-cookies]')?.addEventListener('click', () => {
    show(true)
    banner.querySelector<HTMLElement>('button')?.focus()
  })
  show(readDecision() === null)
  void sendDecision()
}

const withBody = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json' },
  body: JSON.stringify(body),
})

/** Fetches; null when the platform cannot be reached. */
const reach = (path: string, init?: RequestInit): Promise<Response | null> => fetch(addressOf(path), init).catch(() => null)

/** Returns the solution of a new challenge, which the platform takes once, or the answer that refused one. */
async function solution(): Promise<string | Response | null> {
  const answer = await reach('/api/challenge')
  return answer?.ok ? solve((await answer.json()) as Challenge) : answer
}

/** Sends a form; the forms of visitors come with the solution of a challenge, which takes a moment. */
async function sendForm(form: HTMLFormElement): Promise<Response | null> {
  const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
  const path = new URL(form.action).pathname
  if (form.dataset.open !== undefined) return reach(path, withBody(given))
  const solved = await solution()
  if (typeof solved !== 'string') return solved
  const zone = 'startsAt' in given ? { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone } : {}
  return reach(path, withBody({ ...given, ...zone, solution: solved }))
}

/** Sends a form and says at the form what came of it; what was typed stays until it has arrived. */
async function send(form: HTMLFormElement): Promise<void> {
  const line = form.querySelector<HTMLElement>('[role=status]')
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]')
  if (!line || !button || button.disabled) return
  const tell = (what: string) => {
    line.textContent = line.dataset[what] ?? ''
    line.hidden = false
    line.classList.toggle('wrong', what !== 'sent' && what !== 'sending')
  }
  button.disabled = true
  tell('sending')
  const answer = await sendForm(form)
  button.disabled = false
  if (answer?.ok) {
    form.reset()
    return tell('sent')
  }
  if (answer?.status === 409) void offerSlots()
  tell(!answer || answer.status >= 500 ? 'away' : (resultOf[answer.status] ?? 'refused'))
}

/** What a refusal means to a visitor; any other is about the fields. */
const resultOf: Readonly<Record<number, string>> = { 404: 'closed', 409: 'taken', 429: 'slow' }

/** Fills the choice of a demo's time with the free half hours, in the visitor's own time zone. */
async function offerSlots(): Promise<void> {
  const choice = document.querySelector<HTMLSelectElement>('select[name=startsAt]')
  if (!choice) return
  const answer = await reach('/api/demo-slots')
  const { slots } = answer?.ok ? ((await answer.json()) as { slots: readonly { startsAt: string }[] }) : { slots: [] }
  const written = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'full', timeStyle: 'short' })
  choice.replaceChildren(...slots.map(({ startsAt }) => new Option(written.format(new Date(startsAt)), startsAt)))
  choice.disabled = slots.length === 0
}

/** Takes what an address names into the form: the code of a mail, or what a demo is about. */
function fillIn(): void {
  for (const [name, value] of new URLSearchParams(location.search))
    for (const field of document.querySelectorAll<HTMLInputElement>('form input[name=code], form input[name=purpose]'))
      if (field.name === name && (name === 'code' || value === 'enterprise')) field.value = value
}

addEventListener('submit', event => {
  event.preventDefault()
  void send(event.target as HTMLFormElement)
})
addEventListener('online', () => void sendDecision())
document.addEventListener('DOMContentLoaded', () => {
  begin()
  fillIn()
  void offerSlots()
  performance.mark('page-ready')
})
