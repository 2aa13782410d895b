import { spoilt } from '../faults.ts'
import type { ArmedFault, Call, Network, Pieces, Reply, Vendor } from '../network.ts'
import { json, pause, textOf } from '../network.ts'
import { byFault, refuse } from './anthropic/problems.ts'
import { mistakeIn } from './anthropic/request.ts'
import { type Kept, longMs, type Piece, shortMs } from './caches.ts'
import { anthropicModels } from './catalogue.ts'
import { type Body, eventOf, isGoodKey, isObject, newId, objectsIn, openStall, type Stall } from './taken.ts'
import { instanceOf, lastUserText, type Said, say, textIn, wordsOf } from './words.ts'

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

/** Content of an answer: a text, or a tool call with its input. */
interface Answer {
  readonly id: string
  readonly model: string
  readonly said: Said
  readonly tool: { readonly id: string; readonly name: string } | null
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
    said: tool ? say(JSON.stringify(instanceOf(tool.input_schema, text)), most) : say(content, most, (body.stop_sequences ?? []) as readonly string[]),
    tool: tool ? { id: newId('toolu_'), name: String(tool.name) } : null,
    inputTokens: [body.system, ...messages.map(each => each.content)].reduce<number>((sum, each) => sum + wordsOf(textIn(each)).length, 0),
    kept: { read: 0, writtenShort: 0, writtenLong: 0 },
  }
}

/**
 * Whether the system prompt demands a JSON object only: the API has no setting for it, and models follow the
 * instruction.
 */
const wantsJson = (system: unknown): boolean => /\bJSON object\b[^.]*\bnothing else\b/i.test(textIn(system))

function endOf({ said, tool }: Answer) {
  const reason = said.end === 'maximum' ? 'max_tokens' : tool ? 'tool_use' : said.end === 'stop' ? 'stop_sequence' : 'end_turn'
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

function message(answer: Answer) {
  const { id, model, said, tool } = answer
  const text = said.words.join('')
  const content = tool ? { type: 'tool_use', id: tool.id, name: tool.name, input: inputIn(text) } : { type: 'text', text }
  return { id, type: 'message', role: 'assistant', model, content: [content], ...endOf(answer), usage: usageOf(answer, said.words.length) }
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
  const { id, model, said, tool } = answer
  const event = (type: string, value: object) => eventOf({ type, ...value }, type)
  const delta = (word: string) =>
    event('content_block_delta', { index: 0, delta: tool ? { type: 'input_json_delta', partial_json: word } : { type: 'text_delta', text: word } })
  const body: Pieces = async function* (signal) {
    const begun = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: usageOf(answer, 1) }
    yield event('message_start', { message: begun })
    yield event('content_block_start', {
      index: 0,
      content_block: tool ? { type: 'tool_use', id: tool.id, name: tool.name, input: {} } : { type: 'text', text: '' },
    })
    yield event('ping', {})
    for (const word of said.words) yield delta(word)
    while (isEndless && !signal.aborted) {
      await pause(10, signal)
      yield delta(' more')
    }
    yield event('content_block_stop', { index: 0 })
    yield event('message_delta', { delta: endOf(answer), usage: { output_tokens: said.words.length } })
    yield event('message_stop', {})
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body, outcome: 'accepted' }
}
