import { sizeOf } from '../counting/picture-size.ts'
import type { Picture } from '../counting/pictures.ts'
import { type Given, isObject, modelIn, wrong } from '../wire/fields.ts'
import { ignoredIn } from './ignored.ts'
import { type CacheControl, type ChatMessage, type ContentPart, cacheControlsOf, readMessages, readText } from './messages.ts'
import { type ResponseFormat, readResponseFormat, readToolChoice, readTools, type Tool, type ToolChoice } from './tools.ts'

/** A validated chat request, with everything that some vendor supports. */
export interface ChatRequest {
  /** Name of the model; null for the preferred one. */
  readonly model: string | null
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  /** Whether the stream includes the usage. */
  readonly includeUsage: boolean
  /** Maximum output tokens; null without one. */
  readonly maxTokens: number | null
  /** Whether the maximum was sent by its older name: not every provider knows both. */
  readonly hasOldMaximum: boolean
  readonly temperature: number | null
  readonly topP: number | null
  readonly stop: readonly string[]
  readonly seed: number | null
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice | null
  readonly parallelToolCalls: boolean | null
  readonly responseFormat: ResponseFormat | null
  readonly user: string | null
  /** Members that only vendors of OpenAI's protocol support. */
  readonly hints: Readonly<Record<string, unknown>>
  /** Members that no vendor receives, by their names in the protocol. */
  readonly ignored: readonly string[]
  /** Bytes of the request without pictures: an upper bound of its tokens. */
  readonly textBytes: number
  /** For how long a vendor should cache parts of it; null for no caching. */
  readonly keeps: 'minutes' | 'hour' | null
  /** Pictures in their order. */
  readonly pictures: readonly Picture[]
}

/** Members that are read below. */
const taken = new Set(
  'model messages stream stream_options max_completion_tokens max_tokens temperature top_p stop seed tools tool_choice parallel_tool_calls response_format user metadata n'.split(
    ' ',
  ),
)

/**
 * OpenAI's members that are passed on to vendors that support them, and affect neither the answer's form nor its price.
 */
const hints: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: value => typeof value === 'number' && Math.abs(value) <= 2,
  presence_penalty: value => typeof value === 'number' && Math.abs(value) <= 2,
  logit_bias: isObject,
  reasoning_effort: value => typeof value === 'string' && value.length <= 20,
  verbosity: value => typeof value === 'string' && value.length <= 20,
  // OpenAI's successors of `user`: they identify the end user, and prompts with a common prefix.
  safety_identifier: value => typeof value === 'string' && value.length <= 200,
  prompt_cache_key: value => typeof value === 'string' && value.length <= 200,
}

/** Members that clients send by habit: these values have no effect, others are not supported. */
const saysNothing: Readonly<Record<string, readonly unknown[]>> = {
  logprobs: [false],
  top_logprobs: [0],
  store: [false],
  service_tier: ['auto', 'default'],
  modalities: [],
}

/**
 * Reads the body of a chat request.
 * @param body  as parsed
 * @param bytes its length
 * @throws BAD_USER_INPUT with the invalid `field`; an unknown member is rejected, one within another member is
 * `ignored`
 */
export function readChat(body: unknown, bytes: number): ChatRequest {
  if (!isObject(body)) return wrong('body', 'The body is not a JSON object.')
  if ('prompt' in body) wrong('prompt', 'Text completions with a prompt are not supported here: send the text as messages: [{ "role": "user", "content": … }].')
  const given: Record<string, unknown> = {}
  for (const name in body) {
    const value = body[name]
    // Many clients send null for an absent value.
    if (value === null || value === undefined) continue
    if (taken.has(name)) given[name] = value
    else if (Object.hasOwn(hints, name) && !hints[name]!(value)) wrong(name, `${name} is not as OpenAI’s API describes it.`)
    else if (!Object.hasOwn(hints, name) && !(Object.hasOwn(saysNothing, name) && isSilent(name, value)))
      wrong(name.slice(0, 100), `${name.slice(0, 100)} is not supported here: leave it out.`)
  }
  if (given.n !== undefined && given.n !== 1) wrong('n', 'n is 1: ask once for each answer.')
  checkMetadata(given.metadata)
  const messages = readMessages(given.messages)
  const shown = messages
    .flatMap(({ content }) => (Array.isArray(content) ? (content as readonly ContentPart[]) : []))
    .flatMap(part => (part.type === 'image_url' ? [part.image_url] : []))
  const stream = readTruth(given, 'stream') ?? false
  const tools = readTools(given.tools)
  return {
    model: modelIn(given),
    messages,
    stream,
    includeUsage: readIncludeUsage(given.stream_options, stream),
    maxTokens: readMost(given),
    hasOldMaximum: given.max_tokens !== undefined && given.max_completion_tokens === undefined,
    temperature: readNumber(given, 'temperature', 0, 2),
    topP: readNumber(given, 'top_p', 0, 1),
    stop: readStop(given.stop),
    seed: readWhole(given, 'seed', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    tools,
    toolChoice: readToolChoice(given.tool_choice, tools),
    parallelToolCalls: readTruth(given, 'parallel_tool_calls'),
    responseFormat: readResponseFormat(given.response_format),
    user: given.user === undefined ? null : readText(given.user, 'user', 200),
    hints: Object.fromEntries(Object.keys(hints).flatMap(name => (body[name] === null || body[name] === undefined ? [] : [[name, body[name]]]))),
    ignored: ignoredIn(body),
    keeps: keeping([...cacheControlsOf(messages), ...tools.flatMap(tool => tool.cache_control ?? [])]),
    textBytes: bytes - shown.reduce((sum, { url }) => sum + url.length, 0),
    pictures: shown.map(({ url, detail = null }) => ({ size: url.startsWith('data:') ? sizeOf(url) : null, detail })),
  }
}

const keeping = (controls: readonly CacheControl[]): ChatRequest['keeps'] =>
  controls.length === 0 ? null : controls.some(({ ttl }) => ttl === '1h') ? 'hour' : 'minutes'

const isSilent = (name: string, value: unknown): boolean =>
  name === 'modalities' ? Array.isArray(value) && value.length === 1 && value[0] === 'text' : saysNothing[name]!.includes(value)

function readTruth(given: Given, name: string): boolean | null {
  const value = given[name]
  if (value === undefined) return null
  return typeof value === 'boolean' ? value : wrong(name, `${name} is true or false.`)
}

function readNumber(given: Given, name: string, least: number, most: number): number | null {
  const value = given[name]
  if (value === undefined) return null
  return typeof value === 'number' && value >= least && value <= most ? value : wrong(name, `${name} is a number from ${least} to ${most}.`)
}

function readWhole(given: Given, name: string, least: number, most: number): number | null {
  const value = given[name]
  if (value === undefined) return null
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    ? (value as number)
    : wrong(name, `${name} is a whole number, ${least} or more.`)
}

/** Reads the maximum; the newer name takes precedence. */
function readMost(given: Given): number | null {
  const old = readWhole(given, 'max_tokens', 1, 10_000_000)
  return readWhole(given, 'max_completion_tokens', 1, 10_000_000) ?? old
}

function readStop(value: unknown): readonly string[] {
  if (value === undefined) return []
  const all = Array.isArray(value) ? value : [value]
  if (all.length > 4 || all.some(each => typeof each !== 'string' || each === '' || each.length > 1000))
    wrong('stop', 'stop is a text, or a list of at most four, of 1 to 1000 characters each.')
  return all as string[]
}

function readIncludeUsage(value: unknown, stream: boolean): boolean {
  if (value === undefined) return false
  if (!isObject(value)) return wrong('stream_options', 'stream_options is an object, such as { "include_usage": true }.')
  if (!stream) wrong('stream_options', 'stream_options is for streams: set stream to true, or leave it out.')
  const { include_usage: includeUsage = false, include_obfuscation: _padding, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) wrong('stream_options', `stream_options.${unknown.slice(0, 100)} is not supported here: leave it out.`)
  return typeof includeUsage === 'boolean' ? includeUsage : wrong('stream_options', 'stream_options.include_usage is true or false.')
}

/**
 * Validates metadata, which clients send and no vendor receives: vendors store it with a conversation, and nothing is
 * stored here.
 */
function checkMetadata(value: unknown): void {
  if (value === undefined) return
  const isWell = isObject(value) && Object.keys(value).length <= 16 && Object.values(value).every(each => typeof each === 'string' && each.length <= 512)
  if (!isWell) wrong('metadata', 'metadata is an object of at most 16 texts of at most 512 characters.')
}
