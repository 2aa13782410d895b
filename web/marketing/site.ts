/** The script of the marketing site: the decision about cookies, and forms that stay where they are. Without it the pages work too. */

const key = 'supergraph.consent'
const purposes = ['preferences', 'statistics', 'marketing'] as const

interface Decision {
  readonly decision: 'accept' | 'decline'
  readonly at: string
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

const keep = (decision: Decision) => localStorage.setItem(key, JSON.stringify(decision))

/** Tells the platform what was decided, once. What does not arrive is tried again when the line is back, or on the next page. */
async function sendDecision(): Promise<void> {
  const kept = readDecision()
  if (!kept || kept.isSent) return
  const { decision } = kept
  const body = JSON.stringify({ decision, purposes: Object.fromEntries(purposes.map(purpose => [purpose, decision === 'accept'])) })
  const answer = await fetch('/api/consent', { method: 'PUT', headers: { 'content-type': 'application/json' }, body, keepalive: true }).catch(() => null)
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
      keep({ decision, at: new Date().toISOString(), isSent: false })
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

/** Sends a form and says at the form what came of it; what was typed stays until it has arrived. */
async function send(form: HTMLFormElement): Promise<void> {
  const line = form.querySelector<HTMLElement>('[role=status]')
  const button = form.querySelector<HTMLButtonElement>('button[type=submit]')
  if (!line || !button || button.disabled) return
  const tell = (what: string) => {
    line.textContent = line.dataset[what] ?? ''
    line.hidden = false
    line.classList.toggle('wrong', what !== 'sent')
  }
  button.disabled = true
  const fields = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))
  const init = { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(fields) }
  const answer = await fetch(form.action, init).catch(() => null)
  button.disabled = false
  if (answer?.ok) {
    form.reset()
    return tell('sent')
  }
  tell(!answer || answer.status >= 500 ? 'away' : answer.status === 404 ? 'closed' : answer.status === 429 ? 'slow' : 'refused')
}

addEventListener('submit', event => {
  event.preventDefault()
  void send(event.target as HTMLFormElement)
})
addEventListener('online', () => void sendDecision())
document.addEventListener('DOMContentLoaded', () => {
  begin()
  performance.mark('page-ready')
})
