import { failureOf, ModelFailure } from '../model/failure.ts'
import type { AskedCall, Message, ModelStream, ModelTool } from '../model/models.ts'
import { piecesBy } from '../model/pieces.ts'
import { type Briefing, messagesOf } from '../model/prompt.ts'
import type { Usage } from '../model/usage.ts'
import type { ModelWork } from '../model/work.ts'
import { extract, piecesOf, type Quotable } from './extract.ts'

/** Who answers, and what it goes by. */
export interface Answerer extends Omit<Briefing, 'passages'> {
  readonly organizationId: string
  /** Null: it never asks a model. */
  readonly model: string | null
  /** Begins a call that costs something; null where its models may not. @param timeoutMs how long it may take */
  begin(timeoutMs: number): Promise<AnswererCall | null>
}

/** A call of a model that an answerer makes: one of both ends it. */
export interface AnswererCall {
  /** Writes down what it used. */
  spent(usage: Usage): Promise<void>
  /** No model answered. */
  failed(): Promise<void>
}

/** A question, and what was said before it. */
export interface Question {
  readonly text: string
  readonly before: readonly Message[]
  /** The person who asks; null for keys and visitors. */
  readonly forUser: string | null
  readonly signal?: AbortSignal | undefined
  /** Tools that the model may call, and whether it may do so in this answer. */
  readonly tools?: readonly ModelTool[]
  readonly mayCall?: boolean
  /** What was said since the question: then only the model can go on, and an answer in words of the passages is none. */
  readonly after?: readonly Message[]
}

/** A passage with its title. */
export interface Titled extends Quotable {
  readonly title: string
}

/** How an answer was found. */
export interface Answered<Hit> {
  readonly mode: 'MODEL' | 'EXTRACTIVE'
  /** What the reader is to know of it; null for a model's answer. */
  readonly notice: string | null
  /** The passages that it rests on. */
  readonly used: readonly Hit[]
  /** The text, piece by piece as it comes. A piece that cannot be had rejects with ModelFailure. */
  readonly pieces: AsyncIterable<string>
  /** Once the pieces have ended: the tools that the model wants called, and its call in providers' log. */
  ended(): { readonly calls: readonly AskedCall[]; readonly callId: string | null }
}

const notices = {
  extractive: 'This answer quotes sources; no language model wrote it.',
  away: 'No language model is available at the moment: this answer quotes sources.',
  spent: 'The budget for language models is spent: this answer quotes sources.',
} as const

/** What `ended` says of an answer that no model gave. */
export const nothingCalled: Answered<never>['ended'] = () => ({ calls: [], callId: null })

/** The answer when no passage fits. */
export const nothingFound = 'Nothing about that was found in the sources.'

const spent = { hadNoEffect: true, isFinal: true, code: 'BUDGET_EXCEEDED', message: 'The agent has reached its monthly limit.' } as const

/** How long a model may take, in ms. */
const modelMs = 120_000

/**
 * Answers a question: by the model where there is one that answers, else in words of the passages, which is said.
 * @param hits passages that may answer it, the best first
 */
export async function answer<Hit extends Titled>(job: ModelWork, answerer: Answerer, question: Question, hits: readonly Hit[]): Promise<Answered<Hit>> {
  const { model, organizationId, instructions, voice } = answerer
  if (model === null) return quoting(question.text, hits, notices.extractive)
  const { after = [], tools = [], mayCall = true } = question
  const call = await answerer.begin(modelMs)
  if (!call) {
    if (after.length > 0) throw new ModelFailure(spent)
    return quoting(question.text, hits, notices.spent)
  }
  const passages = hits.map(({ title, quote }) => ({ title, text: quote }))
  const messages = messagesOf({ instructions, voice, passages }, [...question.before, { role: 'USER', content: question.text }, ...after])
  const { forUser, signal } = question
  try {
    const stream = await job.models.stream({ organizationId, forUser, model, messages, tools, mayCall, timeoutMs: modelMs, signal })
    const ended = () => ({ calls: stream.calls(), callId: stream.callId })
    return { mode: 'MODEL', notice: null, used: hits, pieces: counted(stream, call), ended }
  } catch (error) {
    await call.failed()
    if (signal?.aborted || after.length > 0) throw error
    const { code, message } = error instanceof ModelFailure ? error.failure : failureOf(error, false)
    job.log.warn({ organizationId, code, reason: message }, 'no model answered; the answer quotes sources')
    return quoting(question.text, hits, code === 'BUDGET_EXCEEDED' ? notices.spent : notices.away)
  }
}

/** Hands the pieces on, and writes down what they cost, also where they are left. */
function counted(stream: ModelStream, call: AnswererCall): AsyncIterableIterator<string> {
  const source = stream.pieces[Symbol.asyncIterator]()
  const leave = async () => {
    await source.return?.()
    await call.spent(stream.usage())
  }
  return piecesBy(async () => {
    const { value, done } = await source.next()
    return done ? undefined : value
  }, leave)
}

function quoting<Hit extends Titled>(question: string, hits: readonly Hit[], notice: string): Answered<Hit> {
  const found = extract(question, hits)
  return { mode: 'EXTRACTIVE', notice, used: found?.used ?? [], pieces: inPieces(found?.text ?? nothingFound), ended: nothingCalled }
}

/** Yields a text that is there, a few words at a time. */
export function inPieces(text: string): AsyncIterableIterator<string> {
  const waiting = [...piecesOf(text)]
  return piecesBy(async () => waiting.shift())
}
