import { looksPublic } from '../../../../platform/outbound/public.ts'
import { type Given, isObject, wrong } from '../wire/fields.ts'

/** A part of a message. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: CacheControl }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string; readonly detail?: string }; readonly cache_control?: CacheControl }

/** Mark that a vendor should cache everything up to here for later calls, as in the Messages API. */
export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A message in OpenAI's format, limited to the supported members. */
export type ChatMessage =
  | { readonly role: 'system' | 'developer' | 'user'; readonly content: string | readonly ContentPart[]; readonly name?: string }
  | { readonly role: 'assistant'; readonly content: string | readonly ContentPart[] | null; readonly tool_calls?: readonly ToolCall[]; readonly name?: string }
  | { readonly role: 'tool'; readonly content: string | readonly ContentPart[]; readonly tool_call_id: string }

/** Maximum messages of a conversation, parts of a message, and tool calls. */
const most = { messages: 10_000, parts: 1_000, calls: 128 } as const

/** Form of models' and tools' names in requests. */
export const nameForm = /^[\w-]{1,64}$/

/** Reads the messages of a conversation. @throws BAD_USER_INPUT with the `field` */
export function readMessages(given: unknown): readonly ChatMessage[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > most.messages)
    return wrong('messages', `messages is a list of 1 to ${most.messages} messages, such as [{ "role": "user", "content": "Hello" }].`)
  return given.map((message: unknown, index): ChatMessage => {
    const field = `messages[${index}]`
    if (!isObject(message)) return wrong('messages', `${field} is not an object with role and content.`)
    const { role } = message
    const name = message.name === undefined || message.name === null ? {} : { name: readText(message.name, `${field}.name`, 64) }
    const isAssistants = role === 'assistant'
    const plain = readContent(message.content, field, { mayBeNone: isAssistants, mayShow: role === 'user' })
    const content = withCacheControl(plain, readCacheControl(message.cache_control, `${field}.cache_control`))
    if (role === 'system' || role === 'developer' || role === 'user') return { role, content: content!, ...name }
    if (role === 'tool') return { role, content: content!, tool_call_id: readText(message.tool_call_id, `${field}.tool_call_id`, 200) }
    if (!isAssistants) return wrong(`${field}.role`, `${field}.role is system, developer, user, assistant or tool.`)
    const calls = readToolCalls(message.tool_calls, field)
    // A refused answer has `refusal` beside its content: clients send it back unchanged.
    const said = content ?? (typeof message.refusal === 'string' && message.refusal !== '' ? message.refusal : null)
    if (said === null && calls.length === 0) wrong(`${field}.content`, `${field} says nothing: it needs content or tool_calls.`)
    return { role, content: said, ...(calls.length > 0 && { tool_calls: calls }), ...name }
  })
}

/** Reads where a cache is to end. @throws BAD_USER_INPUT */
export function readCacheControl(given: unknown, field: string): { readonly cache_control?: CacheControl } {
  if (given === undefined || given === null) return {}
  const { type, ttl, ...more } = isObject(given) ? given : ({} as Given)
  if (type !== 'ephemeral' || Object.keys(more).length > 0 || !(ttl === undefined || ttl === '5m' || ttl === '1h'))
    return wrong(field, `${field} is { "type": "ephemeral" }, with a ttl of 5m or 1h if there is one.`)
  return { cache_control: { type, ...(ttl !== undefined && { ttl }) } }
}

/** Moves a cache mark beside a message to its last part. */
function withCacheControl(content: string | readonly ContentPart[] | null, control: { readonly cache_control?: CacheControl }) {
  if (control.cache_control === undefined || content === null) return content
  const parts: readonly ContentPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return [...parts.slice(0, -1), { ...parts.at(-1)!, ...control }]
}

/** Returns the cache marks of messages. */
export const cacheControlsOf = (messages: readonly ChatMessage[]): readonly CacheControl[] =>
  messages.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly ContentPart[]) : [])).flatMap(part => part.cache_control ?? [])

/** Reads a message's content. */
function readContent(
  given: unknown,
  field: string,
  { mayBeNone, mayShow }: { readonly mayBeNone: boolean; readonly mayShow: boolean },
): string | readonly ContentPart[] | null {
  if (typeof given === 'string') return given
  if (mayBeNone && (given === null || given === undefined)) return null
  if (!Array.isArray(given) || given.length === 0 || given.length > most.parts)
    return wrong(`${field}.content`, `${field}.content is a text, or a list of 1 to ${most.parts} parts.`)
  return given.map((part: unknown, index) => readPart(part, `${field}.content[${index}]`, mayShow))
}

function readPart(part: unknown, field: string, mayShow: boolean): ContentPart {
  if (!isObject(part)) return wrong(field, `${field} is not an object with a type.`)
  const control = readCacheControl(part.cache_control, `${field}.cache_control`)
  if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text, ...control }
  // Another model's refusal is passed on as text.
  if (part.type === 'refusal' && typeof part.refusal === 'string') return { type: 'text', text: part.refusal }
  if (part.type !== 'image_url') return wrong(field, `${field} is of no type that is taken here: give text${mayShow ? ', or image_url' : ' alone'}.`)
  if (!mayShow) return wrong(field, `${field} is a picture: only what the user says may hold one.`)
  const image = part.image_url
  if (!isObject(image) || typeof image.url !== 'string') return wrong(`${field}.image_url`, `${field}.image_url is an object with a url.`)
  if (!/^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=-]+$/.test(image.url) && !isWebAddress(image.url))
    return wrong(`${field}.image_url`, `${field}.image_url.url is an https address, or data:image/png;base64,… (png, jpeg, gif or webp).`)
  // A model server of the operator would fetch the address from within the operator's network.
  if (!image.url.startsWith('data:') && !looksPublic(new URL(image.url)))
    return wrong(`${field}.image_url`, `${field}.image_url.url is not a public address: name one that everybody can open.`)
  const detail = image.detail === undefined || image.detail === null ? {} : { detail: readText(image.detail, `${field}.image_url.detail`, 20) }
  return { type: 'image_url', image_url: { url: image.url, ...detail }, ...control }
}

const isWebAddress = (url: string): boolean => url.length <= 8_000 && /^https?:\/\//i.test(url) && URL.canParse(url)

function readToolCalls(given: unknown, field: string): readonly ToolCall[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given) || given.length > most.calls) return wrong(`${field}.tool_calls`, `${field}.tool_calls is a list of at most ${most.calls} calls.`)
  return given.map((call: unknown, index): ToolCall => {
    const at = `${field}.tool_calls[${index}]`
    const made = isObject(call) && isObject(call.function) ? (call.function as Given) : null
    if (!isObject(call) || made === null || (call.type !== undefined && call.type !== 'function') || typeof made.arguments !== 'string')
      return wrong(at, `${at} is not a call of a function with id, function.name and function.arguments.`)
    if (typeof made.name !== 'string' || !nameForm.test(made.name))
      return wrong(`${at}.function.name`, `${at}.function.name takes 1 to 64 letters, digits, "_" and "-".`)
    return { id: readText(call.id, `${at}.id`, 200), type: 'function', function: { name: made.name, arguments: made.arguments } }
  })
}

/** Returns the text of a content, without pictures. */
export const textOf = (content: string | readonly ContentPart[] | null): string =>
  typeof content === 'string' ? content : (content ?? []).map(part => (part.type === 'text' ? part.text : '')).join('')

/** Reads a required text. @throws BAD_USER_INPUT */
export function readText(value: unknown, field: string, most: number): string {
  if (typeof value !== 'string' || value === '' || value.length > most) return wrong(field, `${field} is a text of 1 to ${most} characters.`)
  return value
}
