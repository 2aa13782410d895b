import type { Usage } from '../../engines/models/prices.ts'
import type { ToolCall } from './messages.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** A model's completion, of any vendor. */
export interface Completion {
  readonly id: string
  /** Seconds since 1970. */
  readonly created: number
  readonly content: string | null
  /** Text of a refusal in place of an answer. */
  readonly refusal: string | null
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: FinishReason
  readonly tokens: Tokens
}

/** A completion before its tokens are counted. */
export type Uncounted = Omit<Completion, 'tokens'> & { readonly reported: ReportedUsage }

/** Tokens that a completion used. */
export interface Tokens {
  readonly input: number
  readonly output: number
  /** Input tokens that the vendor had cached. */
  readonly cached: number
  /** Input tokens that the vendor caches, and those of them cached for an hour. */
  readonly kept: number
  readonly keptLong: number
  /** Output tokens of reasoning that is not part of the answer. */
  readonly reasoning: number
}

/** Usage that a vendor reports; null where it is not a number. */
export interface ReportedUsage {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number
  readonly kept: number
  readonly keptLong: number
  readonly reasoning: number
}

/** Initial usage, before any report. */
export const unreported: ReportedUsage = { input: null, output: null, cached: 0, kept: 0, keptLong: 0, reasoning: 0 }

export const usageOf = ({ input, output, cached, kept, keptLong }: Tokens): Usage => ({
  inputTokens: input,
  cachedTokens: cached,
  cacheWriteTokens: kept,
  longCacheWriteTokens: keptLong,
  outputTokens: output,
  units: null,
})

/** Converts usage to OpenAI's format. */
const wireUsage = ({ input, output, cached, kept, reasoning }: Tokens) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached, ...(kept > 0 && { cache_write_tokens: kept }) },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/** Converts a completion to OpenAI's format, for any vendor. @param model our name of it */
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

/** Fields that all chunks of one stream have in common. */
export interface ChunkHead {
  readonly id: string
  readonly created: number
  /** Our name of the model. */
  readonly model: string
}

/** Builds one event of a stream. */
export const wireChunk = ({ id, created, model }: ChunkHead, delta: object, finishReason: FinishReason | null = null): string =>
  `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] })}\n\n`

/** Builds the event with the usage, and with the cost that stands in the log: a stream has no header left for it. */
export const wireUsageChunk = ({ id, created, model }: ChunkHead, tokens: Tokens, costMicros: bigint | null): string => {
  const cost = costMicros === null ? {} : { cost_micros: Number(costMicros) }
  return `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created, model, choices: [], usage: wireUsage(tokens), ...cost })}\n\n`
}

/** Last event of every complete stream. */
export const wireDone = 'data: [DONE]\n\n'

/** Reads a vendor's count; 0 for anything else. */
export const count = (value: unknown): number => (typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0)
