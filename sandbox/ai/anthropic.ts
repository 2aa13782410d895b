import { spoilt } from '../faults.ts'
import type { ArmedFault, Call, Network, Pieces, Reply, Vendor } from '../network.ts'
import { json, pause, textOf } from '../network.ts'
import { byFault, refuse } from './anthropic/problems.ts'
import { mistakeIn } from './anthropic/request.ts'
import { type Kept, longMs, type Piece, shortMs } from './caches.ts'
import { anthropicModels } from './catalogue.ts'
import { type Body, eventOf, isGoodKey, isObject, newId, objectsIn, openStall, type Stall } from './taken.ts'
import { askedCalls, instanceOf, lastUserText, type Said, say, textIn, wordsOf } from './words.ts'

const version = '2023-06-01'

/** Stand-in for Anthropic (https://docs.anthropic.com/en/api): models answer with an echo of the prompt. */
export const anthropic: Vendor = {
  title: 'Anthropic',
  play(name, deps): Network {
    const stall = openStall(name, deps)
    return {
      name,
      takes: { mostBytes: 32 * 1024 * 1024 },
      received: () => [...stall.calls.values()],
      async answer(call) {
        const id = newId('req_')
        const reply = await answerTo(stall, call, id)
        return { ...reply, headers: { 'request-id': id, 'anthropic-organization-id': '00000000-0000-7000-8000-000000000000', ...reply.headers } }
      },
    }
  },
}

async function answerTo(stall: Stall, call: Call, requestId: string): Promise<Reply> {
  const creates = call.method === 'POST' && call.path === '/v1/messages'
  const named = call.method === 'GET' ? /^\/v1\/models(?:\/([^/]+))?$/.exec(call.path) : null
  if (!creates && !named) return refuse(404, 'not_found_error', 'Not Found', requestId)
  // The header that its documents name, and the one that its newer clients send.
  const key = String(call.headers['x-api-key'] ?? /^Bearer (\S+)$/i.exec(call.headers.authorization ?? '')?.[1] ?? '')
  if (key === '') return refuse(401, 'authentication_error', 'x-api-key header is required', requestId)
  if (!isGoodKey(key)) return refuse(401, 'authentication_error', 'invalid x-api-key', requestId)
  const asked = call.headers['anthropic-version']
  if (asked === undefined) return refuse(400, 'invalid_request_error', 'anthropic-version: header is required', requestId)
  if (asked !== version) return refuse(400, 'invalid_request_error', `anthropic-version: "${asked}" is not a valid version.`, requestId)
  if (named) return models(named[1] ?? '', requestId)
  const body = readJson(call)
  if (!body) return refuse(400, 'invalid_request_error', 'The request body is not valid JSON.', requestId)
  const model = anthropicModels.find(({ id, snapshot }) => id === body.model || snapshot === body.model)
  const wrong = mistakeIn(body)
  if (wrong !== null) return refuse(400, 'invalid_request_error', wrong, requestId)
  if (!model) return refuse(404, 'not_found_error', `model: ${body.model}`, requestId)
  const answer = answerOf(body, model.snapshot)
  const stream = body.stream === true
  return spoilt(stall.deps.faults, stall.name, {
    refuse: (fault: ArmedFault & { readonly status: number }) => byFault(fault, requestId),
    take() {
      // Refused requests are not recorded.
      answer.kept = stall.caches.asAsked(`${key} ${model.id}`, piecesOf(body))
      stall.note(call, key, { id: answer.id, model: String(body.model), text: lastUserText(objectsIn(body.messages)!), stream })
      return stream ? streamed(answer) : json(200, message(answer), 'accepted')
    },
    endless: stream ? () => streamed(answer, true) : undefined,
  })
}

function models(id: string, requestId: string): Reply {
  const shown = anthropicModels.map(model => ({ type: 'model', id: model.snapshot, display_name: model.title, created_at: `${model.released}T00:00:00Z` }))
  if (id === '') return json(200, { data: shown, has_more: false, first_id: shown[0]!.id, last_id: shown.at(-1)!.id }, 'read')
  const at = anthropicModels.findIndex(model => [model.id, model.snapshot].includes(decodeURIComponent(id)))
  return at === -1 ? refuse(404, 'not_found_error', `model: ${id}`, requestId) : json(200, shown[at], 'read')
}

function readJson(call: Call): Body | null {
  try {
    const body: unknown = JSON.parse(textOf(call))
    return isObject(body) ? body : null
  } catch {
    return null
  }
}

/** A tool call, with the words of its input. */
interface Calling {
  readonly id: string
  readonly name: string
  readonly said: Said
}

/** Content of an answer: a text, tool calls, or both. */
interface Answer {
  readonly id: string
  readonly model: string
  readonly said: Said
  readonly calls: readonly Calling[]
  readonly inputTokens: number
  /** How the prompt cache treated the input's tokens. */
  kept: Kept
}

function answerOf(body: Body, model: string): Answer {
  const messages = objectsIn(body.messages)!
  const text = lastUserText(messages)
  const choice = isObject(body.tool_choice) ? body.tool_choice : {}
  const tools = objectsIn(body.tools) ?? []
  const tool = choice.type === 'any' ? tools[0] : choice.type === 'tool' ? tools.find(({ name }) => name === choice.name) : undefined
  const format = isObject(body.output_config) && isObject(body.output_config.format) ? body.output_config.format : null
  const content = format ? JSON.stringify(instanceOf(format.schema, text)) : wantsJson(body.system) ? JSON.stringify({ echo: text }) : `Echo: ${text}`
  const most = body.max_tokens as number
  return {
    id: newId('msg_'),
    model,
    ...(tool
      ? { said: say('', most), calls: [callOf(String(tool.name), instanceOf(tool.input_schema, text), most)] }
      : spoken(messages, choice.type === 'none' ? [] : tools, content, most, (body.stop_sequences ?? []) as readonly string[])),
    inputTokens: [body.system, ...messages.map(each => each.content)].reduce<number>((sum, each) => sum + wordsOf(textIn(each)).length, 0),
    kept: { read: 0, writtenShort: 0, writtenLong: 0 },
  }
}

const callOf = (name: string, input: unknown, most: number): Calling => ({ id: newId('toolu_'), name, said: say(JSON.stringify(input), most) })

/** An answer of the model's choice: the calls that the message asks for, what came of them, or the content that it has otherwise. */
function spoken(messages: readonly Body[], tools: readonly Body[], content: string, most: number, stops: readonly string[]): Pick<Answer, 'said' | 'calls'> {
  const resultsIn = ({ content: blocks }: Body) => (objectsIn(blocks) ?? []).filter(({ type }) => type === 'tool_result')
  // What a user says stands in one message with the results before it.
  const at = messages.findLastIndex(message => message.role === 'user' && (textIn(message.content) !== '' || resultsIn(message).length === 0))
  const rounds = messages.slice(at + 1).filter(({ role }) => role === 'assistant').length
  const offered = new Map(tools.map(({ name, input_schema: schema }) => [String(name), schema]))
  const asked = at === -1 ? [] : askedCalls(textIn(messages[at]!.content), offered, rounds)
  if (asked.length > 0)
    return { said: say(`Calling ${asked.map(({ name }) => name).join(', ')}. `, most), calls: asked.map(({ name, input }) => callOf(name, input, most)) }
  const results = messages
    .slice(at + 1)
    .slice(-1)
    .flatMap(resultsIn)
    .map(({ content: result }) => textIn(result))
  return { said: say(results.length > 0 ? `Echo: ${results.join('\n')}` : content, most, stops), calls: [] }
}

/**
 * Whether the system prompt demands a JSON object only: the API has no setting for it, and models follow the
 * instruction.
 */
const wantsJson = (system: unknown): boolean => /\bJSON object\b[^.]*\bnothing else\b/i.test(textIn(system))

function endOf({ said, calls }: Answer) {
  const isCut = [{ said }, ...calls].some(each => each.said.end === 'maximum')
  const reason = isCut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : said.end === 'stop' ? 'stop_sequence' : 'end_turn'
  return { stop_reason: reason, stop_sequence: said.stop }
}

/**
 * Returns the parts of a prompt in caching order: tools, system prompt, messages. Tools count as zero words in this
 * stand-in.
 */
function piecesOf({ tools, system, messages }: Body): readonly Piece[] {
  const keepMs = (block: Body): number | null => (isObject(block.cache_control) ? (block.cache_control.ttl === '1h' ? longMs : shortMs) : null)
  const blocksOf = (content: unknown): readonly Body[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : (objectsIn(content) ?? []))
  const piece = (block: Body, words: number): Piece => {
    const { cache_control: _, ...content } = block
    return { content: JSON.stringify(content), words, keepMs: keepMs(block) }
  }
  const said = [system, ...(objectsIn(messages) ?? []).map(({ content }) => content)].flatMap(blocksOf)
  return [...(objectsIn(tools) ?? []).map(tool => piece(tool, 0)), ...said.map(block => piece(block, wordsOf(textIn([block])).length))]
}

const usageOf = ({ inputTokens, kept: { read, writtenShort, writtenLong } }: Answer, outputTokens: number) => ({
  input_tokens: inputTokens - read - writtenShort - writtenLong,
  cache_creation_input_tokens: writtenShort + writtenLong,
  cache_read_input_tokens: read,
  cache_creation: { ephemeral_5m_input_tokens: writtenShort, ephemeral_1h_input_tokens: writtenLong },
  output_tokens: outputTokens,
  service_tier: 'standard',
})

const tokensOf = ({ said, calls }: Answer): number => [{ said }, ...calls].reduce((sum, each) => sum + each.said.words.length, 0)

function message(answer: Answer) {
  const { id, model, said, calls } = answer
  const text = said.words.join('')
  const uses = calls.map(call => ({ type: 'tool_use', id: call.id, name: call.name, input: inputIn(call.said.words.join('')) }))
  const content = [...(text !== '' || uses.length === 0 ? [{ type: 'text', text }] : []), ...uses]
  return { id, type: 'message', role: 'assistant', model, content, ...endOf(answer), usage: usageOf(answer, tokensOf(answer)) }
}

/** Parses the input of a tool call; an empty object when the token limit cut it off. */
function inputIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/**
 * Streams an answer, one word per delta, with the events of
 * https://docs.anthropic.com/en/docs/build-with-claude/streaming.
 */
function streamed(answer: Answer, isEndless = false): Reply {
  const { id, model, said, calls } = answer
  const event = (type: string, value: object) => eventOf({ type, ...value }, type)
  const text = { start: { type: 'text', text: '' }, said, deltaOf: (word: string) => ({ type: 'text_delta', text: word }) }
  const uses = calls.map(call => ({
    ...{ start: { type: 'tool_use', id: call.id, name: call.name, input: {} }, said: call.said },
    deltaOf: (word: string) => ({ type: 'input_json_delta', partial_json: word }),
  }))
  const blocks = said.words.length > 0 || uses.length === 0 ? [text, ...uses] : uses
  const body: Pieces = async function* (signal) {
    const begun = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: usageOf(answer, 1) }
    yield event('message_start', { message: begun })
    for (const [index, { start, said: words, deltaOf }] of blocks.entries()) {
      yield event('content_block_start', { index, content_block: start })
      if (index === 0) yield event('ping', {})
      for (const word of words.words) yield event('content_block_delta', { index, delta: deltaOf(word) })
      while (isEndless && index === blocks.length - 1 && !signal.aborted) {
        await pause(10, signal)
        yield event('content_block_delta', { index, delta: deltaOf(' more') })
      }
      yield event('content_block_stop', { index })
    }
    yield event('message_delta', { delta: endOf(answer), usage: { output_tokens: tokensOf(answer) } })
    yield event('message_stop', {})
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body, outcome: 'accepted' }
}
