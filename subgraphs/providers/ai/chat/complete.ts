import type { Ai, AiCall, Question } from '../../stores/ai/engine.ts'
import type { AiModel } from '../../stores/model/candidates.ts'
import { malformed, wireOf } from '../attempt/upstream.ts'
import { type Asking as Caller, jsonType, type Made } from '../one-piece.ts'
import { readMessage } from './anthropic/completion.ts'
import { answeringTool, anthropicBody } from './anthropic/request.ts'
import { type Completion, usageOf } from './completion.ts'
import { droppedOf } from './dropped.ts'
import { wantsJson, withJsonContent } from './json-answer.ts'
import { textOf } from './messages.ts'
import { type Asking, openaiBody, readCompletion } from './openai.ts'
import type { ChatRequest } from './request.ts'
import { anthropicReader } from './stream/anthropic.ts'
import { openaiReader } from './stream/openai.ts'
import { type ChatStream, openStream } from './stream/stream.ts'

/** What an answer may be at most, in tokens, where whoever asks does not say: it is held back, and under a hard limit it is also what is asked for. */
const unsaidTokens = 4_096

/** At most how much is produced: never more than the model can. */
const mostOf = ({ maxTokens }: ChatRequest, { maxOutputTokens }: AiModel): number =>
  Math.min(maxTokens ?? unsaidTokens, maxOutputTokens ?? Number.MAX_SAFE_INTEGER)

/** The same where no hard limit applies: who names no maximum to a model of OpenAI's wire is answered as long as that likes. */
const mostUnlimitedOf = (request: ChatRequest, model: AiModel): number =>
  request.maxTokens === null && wireOf(model) !== 'anthropic' ? (model.maxOutputTokens ?? Number.MAX_SAFE_INTEGER) : mostOf(request, model)

/** What Anthropic adds to a request that has tools, in tokens, at most: it counts its own instructions for them as input. */
const toolTokens = 1_000

/** At most how many tokens a request is. */
const inputBoundOf = (request: ChatRequest, model: AiModel): number =>
  request.inputBytes + (wireOf(model) === 'anthropic' && (request.tools.length > 0 || answeringTool(request)) ? toolTokens : 0)

const streamType = 'text/event-stream'

/** What a model is asked. */
function questionOf(request: ChatRequest, model: AiModel, isLimited: boolean): Question {
  const maxTokens = request.maxTokens ?? (isLimited ? mostOf(request, model) : null)
  const asking: Asking = { provider: model.provider, upstream: model.upstream, maxTokens }
  const isAnthropic = wireOf(model) === 'anthropic'
  return {
    path: isAnthropic ? '/v1/messages' : '/chat/completions',
    body: isAnthropic ? anthropicBody(request, asking) : openaiBody(request, asking),
    headers: { 'content-type': jsonType },
    type: request.stream ? streamType : jsonType,
  }
}

/** What both ways have in common. */
const callOf = (request: ChatRequest, asking: Caller): Omit<AiCall<never>, 'attempt'> => ({
  ...asking,
  capability: 'CHAT',
  operation: 'chat.completions',
  named: request.model,
  prompt: () => request.messages.map(({ content }) => textOf(content)).join('\n\n'),
  least: () => ({ inputTokens: Math.ceil(request.inputBytes / 4), outputTokens: 0, units: null }),
  bound: (model, isLimited) => ({
    inputBytes: inputBoundOf(request, model),
    maxOutputTokens: isLimited ? mostOf(request, model) : mostUnlimitedOf(request, model),
  }),
  dropped: model => droppedOf(request, wireOf(model)),
})

/** Has a conversation gone on with, in one piece. @throws Refusal */
export async function completeChat({ makeCall, upstream, clock }: Ai, request: ChatRequest, asking: Caller): Promise<Made<Completion>> {
  const made = await makeCall<Completion>({
    ...callOf(request, asking),
    async attempt(model, credential, secret, hurry, isLimited) {
      const { json } = await upstream.askJson(model, credential, secret, questionOf(request, model, isLimited), hurry)
      // An error in an answer of 200 is no answer.
      if (json.error !== undefined && json.error !== null) throw malformed(200)
      const read = wireOf(model) === 'anthropic' ? readMessage : readCompletion
      const completion = read(json, request, mostOf(request, model), clock.now())
      return withJsonContent(completion, request)
    },
  })
  const { answer, callId, model, attempts, headers } = made
  const costMicros = await made.succeeded(usageOf(answer.tokens))
  return {
    ...{ answer, callId, model, costMicros, attempts: attempts.length },
    headers: { ...headers, ...(costMicros !== null && { 'x-gateway-cost-micros': String(costMicros) }) },
  }
}

/** The same, piece by piece: it resolves with the first one. Whoever reads it says what became of it. @throws Refusal */
export const streamChat = ({ makeCall, upstream, clock }: Ai, request: ChatRequest, asking: Caller) =>
  makeCall<ChatStream>({
    ...callOf(request, asking),
    async attempt(model, credential, secret, hurry, isLimited) {
      const answer = await upstream.ask(model, credential, secret, questionOf(request, model, isLimited), hurry)
      const { includeUsage, inputBytes } = request
      const reading = { model: model.name, includeUsage, inputBytes, mostTokens: mostOf(request, model), now: clock.now(), wantsJson: wantsJson(request) }
      const reader = wireOf(model) === 'anthropic' ? anthropicReader(reading, answeringTool(request)?.name ?? null) : openaiReader(reading)
      return await openStream(answer, reader)
    },
  })
