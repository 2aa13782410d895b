import { type Challenge, solve } from '../../../shell/data/solve.ts'

/** Who answers. */
export interface Persona {
  readonly slug: string
  readonly name: string
  readonly greeting: string
  readonly default: boolean
}

/** A whole answer. */
export interface Answer {
  readonly session: { readonly clearance: string }
  readonly message: { readonly id: string; readonly text: string; readonly notice: string | null }
  readonly sources: readonly { readonly title: string; readonly url: string | null }[]
  readonly actions: readonly { readonly label: string; readonly url: string }[]
}

/** An answer that did not come. @param seconds to wait, where the platform says it */
export class Unanswered extends Error {
  readonly why: 'slow' | 'full' | 'away'
  readonly seconds: number
  constructor(why: Unanswered['why'], seconds = 0) {
    super(why)
    this.why = why
    this.seconds = seconds
  }
}

/** What a page says to the public chat, and is told by it. The clearance lies in memory alone. */
export interface Talk {
  personas(): Promise<readonly Persona[]>
  /** Solves a challenge ahead, while somebody types. */
  prepare(): void
  /** Asks; `grow` is told the text as it comes. @throws Unanswered */
  ask(message: string, grow: (text: string) => void): Promise<Answer>
  judge(messageId: string, helpful: boolean): Promise<void>
}

/** @param api address of the rows of the public chat */
export function createTalk(api: string, site: string | null, persona: string | null): Talk {
  const query = site === null ? '' : `?site=${encodeURIComponent(site)}`
  let clearance: string | null = null
  let solution: Promise<string> | null = null
  const post = (path: string, body: object, accept = 'application/json') =>
    fetch(`${api}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', accept }, body: JSON.stringify(body) }).catch(() => {
      throw new Unanswered('away')
    })
  async function solved(): Promise<string> {
    const answer = await fetch(`${api}/challenge${query}`).catch(() => null)
    if (!answer?.ok) throw refusedBy(answer)
    return solve((await answer.json()) as Challenge)
  }
  function prepare(): void {
    if (clearance !== null || solution) return
    solution = solved()
    // Whoever asks is told.
    solution.catch(() => {})
  }
  async function sent(message: string, isAgain: boolean): Promise<Response> {
    prepare()
    const proof = clearance === null ? { solution: await solution!.finally(() => (solution = null)) } : { clearance }
    const named = { ...(site !== null && { site }), ...(persona !== null && { persona }) }
    const answer = await post('', { ...named, ...proof, message }, 'text/event-stream')
    if (answer.ok) return answer
    // The clearance has ended, or the solution was too old: the work is done once more.
    if (answer.status === 403 && !isAgain) {
      clearance = null
      return sent(message, true)
    }
    throw refusedBy(answer)
  }
  return {
    async personas() {
      const answer = await fetch(`${api}/personas${query}`).catch(() => null)
      if (!answer?.ok) throw refusedBy(answer)
      return ((await answer.json()) as { readonly personas: readonly Persona[] }).personas
    },
    prepare,
    async ask(message, grow) {
      const whole = await read(await sent(message, false), grow)
      clearance = whole.session.clearance
      return whole
    },
    async judge(messageId, helpful) {
      await post('/feedback', { clearance, messageId, helpful })
    },
  }
}

function refusedBy(answer: Response | null): Unanswered {
  if (answer?.status === 429) return new Unanswered('slow', Number(answer.headers.get('retry-after')) || 60)
  return new Unanswered(answer?.status === 400 || answer?.status === 413 ? 'full' : 'away')
}

/** Reads the events of an answer. @throws Unanswered where it breaks off */
async function read(answer: Response, grow: (text: string) => void): Promise<Answer> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let [waiting, text] = ['', '']
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true as const }))
    if (done) throw new Unanswered('away')
    waiting += value
    const events = waiting.split('\n\n')
    waiting = events.pop()!
    for (const event of events) {
      const [, name] = /^event: (\w+)$/m.exec(event) ?? []
      const [, data] = /^data: (.*)$/m.exec(event) ?? []
      if (name === 'error') throw new Unanswered('away')
      if (name === 'delta') {
        text += (JSON.parse(data!) as { readonly text: string }).text
        grow(text)
      }
      if (name === 'done') return JSON.parse(data!) as Answer
    }
  }
}
