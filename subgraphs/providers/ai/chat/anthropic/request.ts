import { isUnwieldy } from '../../../../http/depth.ts'
import type { Given } from '../../wire/fields.ts'
import { type CacheControl, type ChatMessage, type ContentPart, textOf } from '../messages.ts'
import type { Asking } from '../openai.ts'
import type { ChatRequest } from '../request.ts'
import type { Tool } from '../tools.ts'

/** Default maximum of output tokens, which this protocol requires. */
const unsaidTokens = 4_096

/**
 * Instruction that requests a JSON object of any form: this protocol has no setting for it. Its structured outputs take
 * closed schemas alone, newer models refuse an answer that is begun for them, and a tool whose schema names no member
 * is called with an empty input (docs/decisions/0112-json-and-what-vendors-cannot-take.md).
 */
const jsonInstruction = 'Whenever you answer in text, answer with one JSON object and nothing else: no explanation, no code fence.'

/**
 * Returns the tool that stands for an answer by a schema: its input is the answer. All models of this vendor support
 * tools, with every schema; null where the answer is text.
 */
export function answeringTool({ responseFormat }: Pick<ChatRequest, 'responseFormat'>): Tool | null {
  if (responseFormat?.type !== 'json_schema') return null
  const { name, description, schema } = responseFormat
  return { name, description: description ?? 'Gives the answer in this form.', parameters: schema, strict: null }
}

/** Builds the body of a request of the Messages API. Unsupported members are left out, and named by `droppedOf`. */
export function anthropicBody(request: ChatRequest, { upstream, maxTokens }: Asking): string {
  const { messages, stream, temperature, topP, stop, tools, user } = request
  const { system: said, turns } = turnsOf(messages)
  const system = [...said, ...(request.responseFormat?.type === 'json_object' ? [{ type: 'text', text: jsonInstruction }] : [])]
  const answering = answeringTool(request)
  const offered = answering ? [...tools.filter(({ name }) => name !== answering.name), answering] : tools
  return JSON.stringify({
    model: upstream,
    max_tokens: maxTokens ?? unsaidTokens,
    ...(system.length > 0 && { system: system.some(block => block.cache_control) ? system : system.map(({ text }) => text).join('\n\n') }),
    messages: turns,
    ...(stream && { stream: true }),
    // Anthropic's maximum is 1, so higher values of OpenAI's range become 1.
    ...(temperature !== null && { temperature: Math.min(1, temperature) }),
    // The vendor accepts only one of the two.
    ...(topP !== null && temperature === null && { top_p: topP }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(offered.length > 0 && { tools: offered.map(toolOf), tool_choice: choiceOf(request, answering) }),
    ...(user !== null && { metadata: { user_id: user } }),
  })
}

const toolOf = ({ name, description, parameters, cache_control }: Tool) => ({
  name,
  ...(description !== null && { description }),
  input_schema: { type: 'object', ...parameters },
  ...(cache_control && { cache_control }),
})

/** Returns the tool choice: if a tool stands for the answer, that or another one must be called, never text. */
function choiceOf({ tools, toolChoice, parallelToolCalls }: ChatRequest, answering: Tool | null): object {
  const alone = parallelToolCalls === false ? { disable_parallel_tool_use: true } : {}
  if (typeof toolChoice === 'object' && toolChoice !== null) return { type: 'tool', name: toolChoice.name, ...alone }
  if (answering !== null && (tools.length === 0 || toolChoice === 'none')) return { type: 'tool', name: answering.name }
  if (answering !== null || toolChoice === 'required') return { type: 'any', ...alone }
  return toolChoice === 'none' ? { type: 'none' } : { type: 'auto', ...alone }
}

interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: Given[]
}

/** Converts the conversation to turns: system messages are separate, and tools' results belong to the user. */
function turnsOf(messages: readonly ChatMessage[]): { readonly system: readonly Given[]; readonly turns: readonly Turn[] } {
  const system: Given[] = []
  const turns: Turn[] = []
  const say = (role: Turn['role'], content: readonly Given[]) => {
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content: [...content] })
  }
  for (const message of messages) {
    if (message.role === 'system' || message.role === 'developer') system.push(...systemOf(message.content))
    else if (message.role === 'tool')
      say('user', [{ type: 'tool_result', tool_use_id: message.tool_call_id, content: textOf(message.content), ...lastControl(message.content) }])
    else if (message.role === 'assistant') {
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => ({ type: 'tool_use', id, name, input: inputOf(given) }))
      say('assistant', [...blocksOf(message.content), ...calls])
    } else say('user', blocksOf(message.content))
  }
  // A conversation needs at least one message of the user.
  if (turns.length > 0) return { system, turns }
  return { system: [], turns: [{ role: 'user', content: system.length > 0 ? system : [{ type: 'text', text: ' ' }] }] }
}

/** Converts a system message to one text, unless a cache ends within it. */
function systemOf(content: string | readonly ContentPart[] | null): readonly Given[] {
  const blocks = blocksOf(content)
  if (blocks.some(block => block.cache_control)) return blocks
  const text = textOf(content)
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Returns the cache mark at the end of a tool's result. */
function lastControl(content: string | readonly ContentPart[] | null): { readonly cache_control?: CacheControl } {
  const control = Array.isArray(content) ? (content as readonly ContentPart[]).findLast(part => part.cache_control)?.cache_control : undefined
  return control ? { cache_control: control } : {}
}

/** Parses the arguments of a call to an object; invalid JSON is passed on unchanged. */
function inputOf(given: string): unknown {
  if (isUnwieldy(Buffer.from(given))) return { arguments: given }
  try {
    const value: unknown = JSON.parse(given === '' ? '{}' : given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Below.
  }
  return { arguments: given }
}

function blocksOf(content: string | readonly ContentPart[] | null): Given[] {
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  // The vendor rejects empty texts.
  return parts.flatMap((part): Given[] =>
    part.type === 'text'
      ? part.text === ''
        ? []
        : [{ type: 'text', text: part.text, ...controlOf(part) }]
      : [{ ...pictureOf(part.image_url.url), ...controlOf(part) }],
  )
}

const controlOf = ({ cache_control }: ContentPart) => (cache_control ? { cache_control } : {})

function pictureOf(url: string): Given {
  const comma = url.indexOf(',')
  const type = /^data:(image\/\w+);base64$/.exec(url.slice(0, Math.max(0, comma)))?.[1]
  return { type: 'image', source: type ? { type: 'base64', media_type: type, data: url.slice(comma + 1) } : { type: 'url', url } }
}
