import { malformed } from '../attempt/upstream.ts'
import { tokensIn } from '../wire/counts.ts'
import { type Given, isObject } from '../wire/fields.ts'
import { count, type FinishReason, type ReportedUsage, type Uncounted, unreported } from './completion.ts'
import type { ChatMessage, ContentPart, ToolCall } from './messages.ts'
import type { ChatRequest } from './request.ts'

/** Parameters beside the request itself. */
export interface Asking {
  readonly provider: string
  /** The provider's name of the model. */
  readonly upstream: string
  /** Maximum output tokens; null for the model's own maximum. */
  readonly maxTokens: number | null
}

/** Builds the body of a request in OpenAI's protocol. It always requests the usage, which has to be paid. */
export function openaiBody(request: ChatRequest, { provider, upstream, maxTokens }: Asking): string {
  const { messages, stream, temperature, topP, stop, seed, tools, toolChoice, parallelToolCalls, responseFormat, user, hints, hasOldMaximum } = request
  return JSON.stringify({
    model: upstream,
    messages: keepsBySelf(provider) ? messages.map(withoutCacheControl) : messages,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    // OpenAI's own models require the newer name. For other providers with OpenAI's protocol, the caller's choice of
    // name is kept.
    ...(maxTokens !== null && (hasOldMaximum && provider !== 'openai' ? { max_tokens: maxTokens } : { max_completion_tokens: maxTokens })),
    ...(temperature !== null && { temperature }),
    ...(topP !== null && { top_p: topP }),
    ...(stop.length > 0 && { stop }),
    ...(seed !== null && { seed }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters, strict, cache_control }) => ({
        type: 'function',
        ...(cache_control && !keepsBySelf(provider) && { cache_control }),
        function: { name, ...(description !== null && { description }), ...(parameters !== null && { parameters }), ...(strict !== null && { strict }) },
      })),
      ...(parallelToolCalls !== null && { parallel_tool_calls: parallelToolCalls }),
    }),
    ...(toolChoice !== null && { tool_choice: typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.name } } }),
    ...(responseFormat !== null && { response_format: formatOf(responseFormat) }),
    ...(user !== null && { user }),
    ...hints,
  })
}

/** Whether a vendor caches by itself, without cache marks; other vendors of this protocol may support them. */
export const keepsBySelf = (provider: string): boolean => provider === 'openai' || provider === 'google'

const withoutCacheControl = (message: ChatMessage): ChatMessage =>
  Array.isArray(message.content)
    ? ({ ...message, content: (message.content as readonly ContentPart[]).map(({ cache_control: _, ...part }) => part) } as ChatMessage)
    : message

function formatOf(format: NonNullable<ChatRequest['responseFormat']>): object {
  if (format.type !== 'json_schema') return { type: format.type }
  const { name, description, schema, strict } = format
  return { type: 'json_schema', json_schema: { name, ...(description !== null && { description }), schema, ...(strict !== null && { strict }) } }
}

const reasons = new Set<string>(['stop', 'length', 'tool_calls', 'content_filter'])

/** Converts the reason of the end to the common terms, also the older `function_call`. */
export const reasonOf = (given: unknown): FinishReason =>
  typeof given === 'string' && reasons.has(given) ? (given as FinishReason) : given === 'function_call' ? 'tool_calls' : 'stop'

/** Reads `usage`; null where there is none. */
export function reportedUsage(usage: unknown): ReportedUsage | null {
  if (!isObject(usage)) return null
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage
  return {
    input: tokensIn(usage.prompt_tokens),
    output: tokensIn(usage.completion_tokens),
    cached: (isObject(read) && tokensIn(read.cached_tokens)) || 0,
    // Gateways to vendors that charge for cache writes report them under this name.
    kept: (isObject(read) && tokensIn(read.cache_write_tokens)) || 0,
    keptLong: 0,
    reasoning: (isObject(written) && tokensIn(written.reasoning_tokens)) || 0,
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Reads a `chat.completion`. @throws AttemptFailure `malformed` for anything else */
export function readCompletion(json: Given, _request: ChatRequest, now: Date): Uncounted {
  const [choice] = Array.isArray(json.choices) ? (json.choices as unknown[]) : []
  if (!isObject(choice) || !isObject(choice.message)) throw malformed(200)
  const { message } = choice
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as unknown[]) : []
  const toolCalls = calls.map((call): ToolCall => {
    if (!isObject(call) || !isObject(call.function) || typeof call.function.name !== 'string') throw malformed(200)
    const { name, arguments: given } = call.function
    return { id: textOf(call.id) ?? '', type: 'function', function: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}) } }
  })
  const content = textOf(message.content)
  return {
    id: textOf(json.id) ?? '',
    created: count(json.created) || Math.floor(now.getTime() / 1000),
    content,
    refusal: textOf(message.refusal),
    toolCalls,
    finishReason: reasonOf(choice.finish_reason),
    reported: reportedUsage(json.usage) ?? unreported,
  }
}
