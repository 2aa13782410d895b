import { randomUUID } from 'node:crypto'
import type { Called } from '../../../door/streaming/callbacks.ts'
import type { CallbackAnswer, Callbacks } from '../../../engine/transport/streams/callback.ts'

/** What a worker asks of another one, through the process that keeps both running; `call` numbers its answer. */
export type CallbackQuestion =
  | { readonly what: 'knows'; readonly id: string }
  | { readonly what: 'hear'; readonly ids: readonly string[] }
  | { readonly what: 'take'; readonly id: string; readonly body: unknown; readonly bytes: number }

/** Messages about the calls of subgraphs, between workers of one port. */
export type CallbackWord =
  /** From a worker: a question to another one, by its number. */
  | { readonly about: 'ask-worker'; readonly call: number; readonly worker: number; readonly question: CallbackQuestion }
  /** To that worker, with the number of the one that asks; and its answer. */
  | { readonly about: 'asked'; readonly call: number; readonly by: number; readonly question: CallbackQuestion }
  | { readonly about: 'answered'; readonly call: number; readonly by: number; readonly answer: unknown }
  /** To the worker that asked; null where there is no such worker. */
  | { readonly about: 'answer'; readonly call: number; readonly answer: unknown }

/** Asks another worker. Rejects when it says nothing in time, or too much waits already; null where there is none. */
export type AskWorker = (worker: number, question: CallbackQuestion) => Promise<unknown>

/** Questions to other workers, from the view of one of them. */
export interface WorkerQuestions {
  readonly ask: AskWorker
  /** Receives an answer. */
  receive(word: Extract<CallbackWord, { about: 'answer' }>): void
}

/** Maximum unanswered questions of one worker, and bytes of all of them: they pass through the process that accepts connections. */
const limits = { questions: 256, bytes: 64 * 1024 * 1024, timeoutMs: 4_000 }

/** @param send returns false when the other process is gone */
export function openQuestions(send: (word: CallbackWord) => boolean | undefined): WorkerQuestions {
  const waiting = new Map<number, (answer: unknown) => void>()
  let [calls, bytes] = [0, 0]
  return {
    receive: ({ call, answer }) => waiting.get(call)?.(answer),
    async ask(worker, question) {
      const size = question.what === 'take' ? question.bytes : 0
      if (waiting.size >= limits.questions || bytes + size > limits.bytes) throw new Error('Too many calls wait for another worker')
      const call = ++calls
      const { promise, resolve, reject } = Promise.withResolvers<unknown>()
      const late = setTimeout(() => reject(new Error(`Worker ${worker} does not answer`)), limits.timeoutMs)
      waiting.set(call, resolve)
      bytes += size
      try {
        if (send({ about: 'ask-worker', call, worker, question }) === false) return null
        return await promise
      } finally {
        clearTimeout(late)
        waiting.delete(call)
        bytes -= size
      }
    },
  }
}

/** Returns a new id of a subscription, a UUID whose second group is the number of the worker that listens. */
export const idOfWorker = (worker: number): string => randomUUID().replace(/^(.{8})-.{4}/, `$1-${worker.toString(16).padStart(4, '0')}`)

/** Returns the number of the worker that gave an id; null for what is no such id. */
export function workerOf(id: string): number | null {
  const digits = /^[0-9a-f]{8}-([0-9a-f]{4})-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}

/** Answers the questions of other workers. */
export function answerQuestion({ knows, hear, take }: Callbacks, question: CallbackQuestion): unknown {
  if (question.what === 'knows') return knows(question.id)
  return question.what === 'hear' ? hear(question.ids) : take(question.id, question.body, question.bytes)
}

const over: CallbackAnswer = { status: 404 }
const late: CallbackAnswer = { status: 503 }

/** Takes the calls of subgraphs for all workers of a port: each is handed to the worker that subscribed. */
export function callbacksOfAll(own: Callbacks, worker: number, ask: AskWorker): Called {
  const at = async <Answer>(owner: number, question: CallbackQuestion, none: Answer): Promise<Answer> =>
    owner === worker ? (answerQuestion(own, question) as Answer) : (((await ask(owner, question)) as Answer | null) ?? none)
  return {
    async knows(id) {
      const owner = workerOf(id)
      if (owner === null) return false
      // Where the other worker is slow its call is refused later, with a status that says so.
      return at(owner, { what: 'knows', id }, false).catch(() => true)
    },
    async take(id, body, bytes) {
      const owner = workerOf(id)
      if (owner === null) return over
      try {
        const answer = await at(owner, { what: 'take', id, body, bytes }, over)
        const unknown = unknownIn(answer)
        return unknown ? await heardElsewhere(answer, unknown, owner) : answer
      } catch {
        return late
      }
    },
  }

  /** A sign of life may name subscriptions of several workers. */
  async function heardElsewhere(answer: CallbackAnswer, unknown: readonly string[], owner: number): Promise<CallbackAnswer> {
    const byWorker = Map.groupBy(unknown, workerOf)
    const left = await Promise.all(
      [...byWorker].map(([other, ids]) => (other === null || other === owner ? ids : at<readonly string[]>(other, { what: 'hear', ids }, ids))),
    )
    const nobodys = new Set(left.flat())
    if (nobodys.size === 0) return { status: 204 }
    return { ...answer, body: { ...answer.body, invalid_ids: unknown.filter(id => nobodys.has(id)) } }
  }
}

/** Returns the ids of a sign of life that the worker does not know. */
function unknownIn({ status, body }: CallbackAnswer): readonly string[] | undefined {
  return status === 400 && body && 'invalid_ids' in body ? (body.invalid_ids as readonly string[]) : undefined
}
