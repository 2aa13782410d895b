import type { AiModel } from '../../engines/models/candidates.ts'
import type { Ai, AiCall, CountTokens, Question } from '../../engines/models/engine.ts'
import { malformed, wireOf } from '../attempt/upstream.ts'
import { tokensOfPicture } from '../counting/pictures.ts'
import { sampleOf } from '../counting/sample.ts'
import { type Asking as Caller, jsonType, type Made } from '../one-piece.ts'
import { readMessage } from './anthropic/completion.ts'
import { answeringTool, anthropicBody } from './anthropic/request.ts'
import { type Completion, type Tokens, usageOf } from './completion.ts'
import { type Asked, askedOf, type Meter, tokensAsked, tokensUsed } from './counted.ts'
import { droppedOf } from './dropped.ts'
import { wantsJson, withJsonContent } from './json-answer.ts'
import { textOf } from './messages.ts'
import { type Asking, keepsBySelf, openaiBody, readCompletion } from './openai.ts'
import type { ChatRequest } from './request.ts'
import { anthropicReader } from './stream/anthropic.ts'
import { openaiReader } from './stream/openai.ts'
import type { Used } from './stream/reader.ts'
import { type ChatStream, openStream } from './stream/stream.ts'

/** Default maximum of output tokens: it is reserved, and under a hard limit also sent to the vendor. */
const unsaidTokens = 4_096

/** Returns the maximum output tokens of a call, never more than the model supports. */
const mostOf = ({ maxTokens }: ChatRequest, { maxOutputTokens }: AiModel): number =>
  Math.min(maxTokens ?? unsaidTokens, maxOutputTokens ?? Number.MAX_SAFE_INTEGER)

/**
 * Returns the maximum output tokens without a hard limit: without a caller's maximum, models of OpenAI's protocol may
 * answer without one.
 */
const mostUnlimitedOf = (request: ChatRequest, model: AiModel): number =>
  request.maxTokens === null && wireOf(model) !== 'anthropic' ? (model.maxOutputTokens ?? Number.MAX_SAFE_INTEGER) : mostOf(request, model)

/** Maximum tokens that Anthropic adds to a request with tools: it counts its own instructions as input. */
const toolTokens = 1_000

/** Returns an upper bound of a request's tokens. */
const inputBoundOf = (request: ChatRequest, model: AiModel): number =>
  request.textBytes +
  request.pictures.reduce((sum, picture) => sum + tokensOfPicture(model, picture), 0) +
  (wireOf(model) === 'anthropic' && (request.tools.length > 0 || answeringTool(request)) ? toolTokens : 0)

const streamType = 'text/event-stream'

/** Builds the vendor's request. */
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

/** Parts common to streamed and complete chats. */
const callOf = (request: ChatRequest, asking: Caller, count: CountTokens): Omit<AiCall<never>, 'attempt'> => ({
  ...asking,
  capability: 'CHAT',
  operation: 'chat.completions',
  named: request.model,
  prompt: () => request.messages.map(({ content }) => textOf(content)).join('\n\n'),
  least: async model => ({
    inputTokens: await tokensAsked(askedOf(request), { count, organizationId: asking.caller.organizationId, model }),
    outputTokens: 0,
    units: null,
  }),
  bound: (model, isLimited) => ({
    inputBytes: inputBoundOf(request, model),
    keeps: keepsBySelf(model.provider) ? null : request.keeps,
    maxOutputTokens: isLimited ? mostOf(request, model) : mostUnlimitedOf(request, model),
  }),
  dropped: model => droppedOf(request, wireOf(model), model.provider),
})

/** Completes a chat in one piece. @throws DomainError */
export async function completeChat({ makeCall, upstream, clock, count }: Ai, request: ChatRequest, asking: Caller): Promise<Made<Completion>> {
  const made = await makeCall<Completion>({
    ...callOf(request, asking, count),
    async attempt(model, credential, secret, timing, isLimited) {
      const { json } = await upstream.askJson(model, credential, secret, questionOf(request, model, isLimited), timing)
      // An error in an answer of 200 is no answer.
      if (json.error !== undefined && json.error !== null) throw malformed(200)
      const read = wireOf(model) === 'anthropic' ? readMessage : readCompletion
      const { reported, ...said } = read(json, request, clock.now())
      const written = () => ({ pieces: 1, sample: sampleOf([said.content ?? '', ...said.toolCalls.map(call => call.function.arguments)]) })
      const meter = { count, organizationId: asking.caller.organizationId, model }
      const tokens = await tokensUsed(reported, askedOf(request), written, mostOf(request, model), meter)
      return withJsonContent({ ...said, tokens }, request)
    },
  })
  const { answer, callId, model, attempts, dropped, headers } = made
  const costMicros = await made.succeeded(usageOf(answer.tokens))
  return {
    ...{ answer, callId, model, costMicros, attempts: attempts.length, dropped },
    headers: { ...headers, ...(costMicros !== null && { 'x-gateway-cost-micros': String(costMicros) }) },
  }
}

/** Returns how to count a stream's usage. Only what counting needs is kept during the stream. */
const counting =
  (asked: Asked, most: number, meter: Meter) =>
  ({ reported, written }: Used): Promise<Tokens> =>
    tokensUsed(reported, asked, written, most, meter)

/**
 * Completes a chat as a stream: resolves with its first piece. The reader reports the stream's outcome. @throws DomainError
 */
export const streamChat = ({ makeCall, upstream, clock, count }: Ai, request: ChatRequest, asking: Caller) =>
  makeCall<ChatStream>({
    ...callOf(request, asking, count),
    async attempt(model, credential, secret, timing, isLimited) {
      const answer = await upstream.ask(model, credential, secret, questionOf(request, model, isLimited), timing)
      const { includeUsage } = request
      const reading = { model: model.name, includeUsage, now: clock.now(), wantsJson: wantsJson(request) }
      const reader = wireOf(model) === 'anthropic' ? anthropicReader(reading, answeringTool(request)?.name ?? null) : openaiReader(reading)
      const meter = { count, organizationId: asking.caller.organizationId, model }
      return await openStream(answer, reader, counting(askedOf(request), mostOf(request, model), meter))
    },
  })
