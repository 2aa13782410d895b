import type { Usage } from '../../engines/models/prices.ts'
import type { ToolCall } from './messages.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** What a model said, whoever it is. */
export interface Completion {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly content: string | null
  /** What it said instead of an answer. */
  readonly refusal: string | null
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: FinishReason
  readonly tokens: Tokens
}

/** What a model said, before it is counted. */
export type Uncounted = Omit<Completion, 'tokens'> & { readonly told: Told }

/** What it used. */
export interface Tokens {
  readonly input: number
  readonly output: number
  /** Of the input: what the vendor had kept from before. */
  readonly cached: number
  /** Of the input: what it keeps for later, and what of that for an hour. */
  readonly kept: number
  readonly keptLong: number
  /** Of the output: what was thought and not said. */
  readonly reasoning: number
}

/** What a vendor says that it used; null where that is no number. */
export interface Told {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number
  readonly kept: number
  readonly keptLong: number
  readonly reasoning: number
}

/** Nothing is said yet. */
export const untold: Told = { input: null, output: null, cached: 0, kept: 0, keptLong: 0, reasoning: 0 }

export const usageOf = ({ input, output, cached, kept, keptLong }: Tokens): Usage => ({
  inputTokens: input,
  cachedTokens: cached,
  cacheWriteTokens: kept,
  longCacheWriteTokens: keptLong,
  outputTokens: output,
  units: null,
})

/** What was used, as OpenAI's wire tells it. */
const wireUsage = ({ input, output, cached, kept, reasoning }: Tokens) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, ...(kept > 0 && { cache_write_tokens: kept }) },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/** The answer on OpenAI's wire: one form, whoever has answered. @param model our name of it */
export const wireCompletion = ({ id, created, content, refusal, toolCalls, finishReason, tokens }: Completion, model: string) => ({
  id,
  object: 'chat.completion',
  created,
  model,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content, refusal, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) },
      logprobs: null,
      finish_reason: finishReason,
    },
  ],
  usage: wireUsage(tokens),
})

/** What a chunk of a stream begins with: the same in all of one answer. */
export interface ChunkHead {
  readonly id: string
  readonly created: number
  /** Our name of it. */
  readonly model: string
}

/** One event of a stream. */
export const wireChunk = ({ id, created, model }: ChunkHead, delta: object, finishReason: FinishReason | null = null): string =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] })}\n\n`

/** The event that tells what was used. */
export const wireUsageChunk = ({ id, created, model }: ChunkHead, tokens: Tokens): string =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage: wireUsage(tokens) })}\n\n`

/** What ends every stream that is whole. */
export const wireDone = 'data: [DONE]\n\n'

/** A number that a vendor counts with; 0 for what is none. */
export const count = (value: unknown): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0)
