import { malformed } from '../attempt/upstream.ts'
import { tokensIn } from '../wire/counts.ts'
import { type Given, isObject } from '../wire/fields.ts'
import { count, type FinishReason, type Told, type Uncounted, untold } from './completion.ts'
import type { ChatMessage, ContentPart, ToolCall } from './messages.ts'
import type { ChatRequest } from './request.ts'

/** What is asked beside the request itself. */
export interface Asking {
  readonly provider: string
  /** What the provider calls the model. */
  readonly upstream: string
  /** The most that may be produced; null: as much as the model likes. */
  readonly maxTokens: number | null
}

/** The body of a request on OpenAI's wire. What it uses is always asked for: the call has to be paid. */
export function openaiBody(request: ChatRequest, { provider, upstream, maxTokens }: Asking): string {
  const { messages, stream, temperature, topP, stop, seed, tools, toolChoice, parallelToolCalls, responseFormat, user, hints, hasOldMaximum } = request
  return JSON.stringify({
    model: upstream,
    messages: keepsBySelf(provider) ? messages.map(withoutCacheControl) : messages,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    // OpenAI's own models insist on the newer name; of who speaks its wire besides the caller knows more than we do.
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

/** Whether a vendor keeps what it likes by itself, and has no word for where a cache ends; who else speaks this wire may know one. */
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

/** Why it ended, in the words that all vendors share here; the older `function_call` is what it became. */
export const reasonOf = (given: unknown): FinishReason =>
  typeof given === 'string' && reasons.has(given) ? (given as FinishReason) : given === 'function_call' ? 'tool_calls' : 'stop'

/** Reads `usage`; null where there is none. */
export function toldOf(usage: unknown): Told | null {
  if (!isObject(usage)) return null
  const { prompt_tokens_details: read, completion_tokens_details: written } = usage
  return {
    input: tokensIn(usage.prompt_tokens),
    output: tokensIn(usage.completion_tokens),
    cached: (isObject(read) && tokensIn(read.cached_tokens)) || 0,
    // Gateways to vendors that are paid for it report it so.
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
    told: toldOf(json.usage) ?? untold,
  }
}
