import type { Pieces, Reply } from '../network.ts'
import { json, pause } from '../network.ts'
import type { PlayedModel } from './catalogue.ts'
import { type Asked, type InOrder, isReply, modelOf } from './openai-asked.ts'
import { refuse } from './openai-problems.ts'
import { type Body, eventOf, isObject, newId, objectsIn } from './taken.ts'
import { askedCalls, instanceOf, lastUserText, type Said, say, textIn, trendsAt, wordsOf } from './words.ts'

/** A tool call, with the words of its arguments. */
interface Calling {
  readonly id: string
  readonly name: string
  readonly said: Said
}

/** Content of an answer: a text, tool calls, or both. */
interface Answer {
  readonly id: string
  readonly created: number
  readonly model: PlayedModel
  readonly said: Said
  readonly calls: readonly Calling[]
  readonly promptTokens: number
  /** Prompt tokens that were found in the vendor's cache. */
  cachedTokens: number
}

const roles = ['developer', 'system', 'user', 'assistant', 'tool', 'function']

/** Answers POST /v1/chat/completions: https://platform.openai.com/docs/api-reference/chat/create */
export function chat({ stall, call, key, body }: Asked): InOrder | Reply {
  const model = modelOf(body, 'chat')
  if (isReply(model)) return model
  const wrong = mistakeIn(body, model)
  if (wrong) return wrong
  const messages = objectsIn(body.messages)!
  const text = lastUserText(messages)
  const tool = wantedTool(body)
  if (tool && isReply(tool)) return tool
  const most = (body.max_completion_tokens ?? body.max_tokens ?? null) as number | null
  const stops = [body.stop].flat().filter(stop => typeof stop === 'string')
  const words = messages.flatMap(({ content }) => wordsOf(textIn(content)))
  const answer: Answer = {
    id: newId('chatcmpl-'),
    created: Math.floor(stall.deps.clock.now().getTime() / 1000),
    model,
    ...(tool ? forced(tool, text, most) : spoken(body, messages, stall.deps.clock.now(), most, stops)),
    promptTokens: words.length,
    cachedTokens: 0,
  }
  const stream = body.stream === true
  const counts = stream && isObject(body.stream_options) && body.stream_options.include_usage === true
  return {
    take() {
      answer.cachedTokens = stall.caches.byItself(`${key} ${model.id}`, words)
      stall.note(call, key, { id: answer.id, model: String(body.model), text, stream })
      return stream ? streamed(answer, counts) : json(200, completion(answer), 'accepted')
    },
    endless: stream ? () => streamed(answer, counts, true) : undefined,
  }
}

function mistakeIn(body: Body, model: PlayedModel): Reply | undefined {
  const wrong = (message: string, param: string, code: string | null = null) => refuse(400, message, { param, code })
  const messages = objectsIn(body.messages)
  if (body.messages === undefined) return wrong("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter')
  if (!messages) return wrong("Invalid type for 'messages': expected an array of objects.", 'messages', 'invalid_type')
  if (messages.length === 0) return wrong("Invalid 'messages': empty array. Expected an array with minimum length 1.", 'messages', 'empty_array')
  const strange = messages.findIndex(({ role }) => !roles.includes(String(role)))
  if (strange !== -1)
    return wrong(
      `Invalid value: '${messages[strange]!.role}'. Supported values are: ${roles.map(role => `'${role}'`).join(', ')}.`,
      `messages[${strange}].role`,
      'invalid_value',
    )
  if (body.max_tokens !== undefined && /^gpt-5/.test(model.id))
    return wrong(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    )
  for (const name of ['max_completion_tokens', 'max_tokens']) {
    const value = body[name] ?? 1
    if (!Number.isInteger(value) || (value as number) < 1)
      return wrong(`Invalid '${name}': integer below minimum value. Expected a value >= 1.`, name, 'integer_below_min_value')
  }
  if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true)
    return wrong("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  if (body.tool_choice !== undefined && !Array.isArray(body.tools)) return wrong("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice')
  return undefined
}

/**
 * Returns the tool that the request forces the model to call, with the schema of its arguments; null when it forces
 * none.
 */
function wantedTool({ tools, tool_choice: choice }: Body): { readonly name: string; readonly parameters: unknown } | Reply | null {
  const list = (objectsIn(tools) ?? []).flatMap(tool => (isObject(tool.function) ? [tool.function] : []))
  const named = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined
  if (choice !== 'required' && named === undefined) return null
  const found = named === undefined ? list[0] : list.find(({ name }) => name === named)
  return found
    ? { name: String(found.name), parameters: found.parameters ?? {} }
    : refuse(400, `Tool choice '${named}' not found in 'tools' parameter.`, { param: 'tool_choice' })
}

const callOf = (name: string, input: unknown, most: number | null): Calling => ({ id: newId('call_'), name, said: say(JSON.stringify(input), most) })

/** An answer that is a call of a certain tool. */
const forced = ({ name, parameters }: { readonly name: string; readonly parameters: unknown }, text: string, most: number | null) => ({
  said: say('', most),
  calls: [callOf(name, instanceOf(parameters, text), most)],
})

/** An answer of the model's choice: the calls that the message asks for, what came of them, or an echo. */
function spoken(body: Body, messages: readonly Body[], now: Date, most: number | null, stops: readonly string[]): Pick<Answer, 'said' | 'calls'> {
  const text = lastUserText(messages)
  const after = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const functions = (objectsIn(body.tools) ?? []).flatMap(tool => (isObject(tool.function) ? [tool.function] : []))
  const offered = body.tool_choice === 'none' ? [] : functions
  const rounds = after.filter(({ role, tool_calls: calls }) => role === 'assistant' && Array.isArray(calls)).length
  const asked = askedCalls(text, new Map(offered.map(({ name, parameters }) => [String(name), parameters ?? {}])), rounds)
  if (asked.length > 0)
    return { said: say(`Calling ${asked.map(({ name }) => name).join(', ')}. `, most), calls: asked.map(({ name, input }) => callOf(name, input, most)) }
  const results = after
    .slice(after.findLastIndex(({ role }) => role === 'assistant') + 1)
    .flatMap(({ role, content }) => (role === 'tool' ? [textIn(content)] : []))
  return { said: say(results.length > 0 ? `Echo: ${results.join('\n')}` : contentFor(body.response_format, text, now), most, stops), calls: [] }
}

function contentFor(format: unknown, text: string, now: Date): string {
  const { type, json_schema: wanted } = isObject(format) ? format : {}
  if (type === 'json_object') return JSON.stringify({ echo: text })
  if (type === 'json_schema' && isObject(wanted) && wanted.name === 'trends') return JSON.stringify({ trends: trendsAt(now) })
  if (type === 'json_schema') return JSON.stringify(instanceOf(isObject(wanted) ? wanted.schema : {}, text))
  return `Echo: ${text}`
}

const tokensOf = ({ said, calls }: Answer): number => [{ said }, ...calls].reduce((sum, each) => sum + each.said.words.length, 0)

const usageOf = (answer: Answer) => ({
  prompt_tokens: answer.promptTokens,
  completion_tokens: tokensOf(answer),
  total_tokens: answer.promptTokens + tokensOf(answer),
  prompt_tokens_details: { cached_tokens: answer.cachedTokens, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
})

const finishOf = ({ said, calls }: Answer): string =>
  [{ said }, ...calls].some(each => each.said.end === 'maximum') ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop'

const headOf = ({ id, name }: Calling, text: string) => ({ id, type: 'function', function: { name, arguments: text } })

function completion(answer: Answer) {
  const { id, created, model, said, calls } = answer
  const text = said.words.join('')
  const content = calls.length > 0 && text === '' ? null : text
  const wanted = calls.length > 0 && { tool_calls: calls.map(call => headOf(call, call.said.words.join(''))) }
  return {
    id,
    object: 'chat.completion',
    created,
    model: model.snapshot,
    choices: [
      { index: 0, message: { role: 'assistant', content, ...wanted, refusal: null, annotations: [] }, logprobs: null, finish_reason: finishOf(answer) },
    ],
    usage: usageOf(answer),
    service_tier: 'default',
    system_fingerprint: null,
  }
}

/** Streams an answer, one word per chunk, with the usage in a last chunk if the request asks for it. */
function streamed(answer: Answer, counts: boolean, isEndless = false): Reply {
  const { id, created, model, said, calls } = answer
  const shared = { id, object: 'chat.completion.chunk', created, model: model.snapshot, service_tier: 'default', system_fingerprint: null }
  const chunk = (delta: object, finish: string | null = null) =>
    eventOf({ ...shared, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...(counts && { usage: null }) })
  const beginOf = (index: number) => ({ tool_calls: [{ index, ...headOf(calls[index]!, '') }] })
  const isCall = said.words.length === 0 && calls.length > 0
  const argumentsOf = (index: number, word: string) => ({ tool_calls: [{ index, function: { arguments: word } }] })
  const body: Pieces = async function* (signal) {
    yield chunk({ role: 'assistant', ...(isCall ? { content: null, ...beginOf(0) } : { content: '', refusal: null }) })
    for (const word of said.words) yield chunk({ content: word })
    for (const [index, call] of calls.entries()) {
      if (index > 0 || !isCall) yield chunk(beginOf(index))
      for (const word of call.said.words) yield chunk(argumentsOf(index, word))
    }
    while (isEndless && !signal.aborted) {
      await pause(10, signal)
      yield chunk(calls.length > 0 ? argumentsOf(calls.length - 1, ' more') : { content: ' more' })
    }
    yield chunk({}, finishOf(answer))
    if (counts) yield eventOf({ ...shared, choices: [], usage: usageOf(answer) })
    yield 'data: [DONE]\n\n'
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body, outcome: 'accepted' }
}
