import { isUnwieldy } from '../../../../http/depth.ts'
import { AttemptFailure, plainCode } from '../../attempt/failure.ts'
import { malformed } from '../../attempt/upstream.ts'
import { createSampler } from '../../counting/sample.ts'
import { type Given, isObject } from '../../wire/fields.ts'
import { type ChunkHead, count, unreported, wireDone, wireUsageChunk } from '../completion.ts'
import { type JsonAnswer, readJsonAnswer } from '../json-answer.ts'
import { reportedUsage } from '../openai.ts'
import { bytesOf, dataOf, type EventReader, type Reading, textOf } from './reader.ts'

const [modelKey, contentKey, argumentsKey, noUsage] = ['"model":"', '"content":"', '"arguments":"', ',"usage":null']

/**
 * Forwards `chat.completion.chunk`s under our name of the model, without usage that the client did not request. Such a
 * chunk is not parsed: quotes within JSON strings are escaped, so a quoted key can be found by text search. Unusual
 * chunks are parsed, and so are all chunks of an answer in JSON.
 */
export function openaiReader({ model, includeUsage, now, wantsJson }: Reading): EventReader {
  const named = bytesOf(JSON.stringify(model)).slice(1)
  let head: ChunkHead | undefined
  let reported = unreported
  /** The text written so far, in JSON's escapes. */
  const sampler = createSampler(unescaped)
  let hasFinished = false
  let isDone = false
  const jsonAnswer = wantsJson ? readJsonAnswer() : null
  /** Text before the requested JSON object: until the object begins, another candidate may be tried. */
  let waiting = ''
  /** Whether the answer is something other than the object: a tool call, or a refusal. */
  let isOther = false
  let hasBegun = false

  /** @returns null when the chunk has to be parsed */
  const passedOn = (data: string): string | null => {
    if (!head || jsonAnswer || !data.endsWith('}') || !data.includes('"choices":[{') || data.includes('"usage":{')) return null
    const at = data.indexOf(modelKey)
    const end = at === -1 ? -1 : data.indexOf('"', at + modelKey.length)
    if (end === -1) return null
    for (const key of [contentKey, argumentsKey]) {
      const begins = data.indexOf(key)
      if (begins !== -1) sampler.add(stringAt(data, begins + key.length))
    }
    if (data.includes('"finish_reason":"')) hasFinished = true
    const before = data.slice(0, at + modelKey.length)
    const usage = data.indexOf(noUsage, end)
    // `named` ends with the quote that `end` is.
    if (usage === -1) return `data: ${before}${named}${data.slice(end + 1)}\n\n`
    return `data: ${before}${named}${data.slice(end + 1, usage)}${data.slice(usage + noUsage.length)}\n\n`
  }

  const parsed = (data: string): string => {
    const json = parse(data)
    if (isObject(json.error)) throw reportedFailure(json.error)
    if (!Array.isArray(json.choices)) throw malformed(200)
    head ??= { id: typeof json.id === 'string' ? json.id : '', created: count(json.created) || Math.floor(now.getTime() / 1000), model }
    reported = reportedUsage(json.usage) ?? reported
    const [choice] = json.choices as unknown[]
    // A chunk with usage only is sent again at the end.
    if (!isObject(choice)) return ''
    const { delta } = choice
    if (isObject(delta)) {
      sampler.add(escaped(delta.content))
      for (const call of Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : [])
        if (isObject(call) && isObject(call.function)) sampler.add(escaped(call.function.arguments))
    }
    if (typeof choice.finish_reason === 'string') hasFinished = true
    const { usage: _usage, ...rest } = json
    const written = (more: object) => `data: ${bytesOf(JSON.stringify({ ...rest, model, ...more }))}\n\n`
    return jsonAnswer ? inJson(jsonAnswer, choice, isObject(delta) ? delta : {}, written) : written({})
  }

  /** Forwards a chunk with nothing but the object in its text. */
  const inJson = (answer: JsonAnswer, choice: Given, delta: Given, written: (more: object) => string): string => {
    const text = typeof delta.content === 'string' ? delta.content : ''
    const own = answer.take(text)
    hasBegun ||= own !== ''
    isOther ||= (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) || (typeof delta.refusal === 'string' && delta.refusal !== '')
    if (choice.finish_reason === 'stop' && !isOther) answer.end()
    waiting += written({ choices: [{ ...choice, delta: text === '' ? delta : { ...delta, content: own } }] })
    if (!hasBegun && !isOther && !hasFinished) return ''
    const events = waiting
    waiting = ''
    return events
  }

  return {
    take(line) {
      const data = dataOf(line)
      if (data === null || data === '' || isDone) return ''
      if (data === '[DONE]') {
        isDone = true
        return ''
      }
      return passedOn(data) ?? parsed(data)
    },
    requireEnd() {
      if (!head || !(isDone || hasFinished)) throw new AttemptFailure('cut', null, 'The connection to the provider broke.')
      if (!hasFinished && !isOther) jsonAnswer?.end()
    },
    last: (tokens, costMicros) => (includeUsage && head ? bytesOf(wireUsageChunk(head, tokens, costMicros)) : '') + wireDone,
    used: () => ({ reported, written: sampler.written }),
    get isDone() {
      return isDone
    },
  }
}

/** Returns a JSON string from its first character on, still escaped. */
function stringAt(data: string, begins: number): string {
  for (let end = data.indexOf('"', begins); end !== -1; end = data.indexOf('"', end + 1)) {
    let escapes = 0
    while (data.charCodeAt(end - 1 - escapes) === 92) escapes++
    if (escapes % 2 === 0) return data.slice(begins, end)
  }
  return ''
}

/** Escapes a text as in a JSON string, one character for each byte. */
const escaped = (text: unknown): string => (typeof text === 'string' && text !== '' ? bytesOf(JSON.stringify(text).slice(1, -1)) : '')

/** Returns the text of an escaped JSON string. */
function unescaped(written: string): string {
  try {
    return JSON.parse(`"${textOf(written)}"`) as string
  } catch {
    return textOf(written)
  }
}

export function parse(data: string): Readonly<Record<string, unknown>> {
  if (isUnwieldy(Buffer.from(data, 'latin1'))) throw malformed(200)
  try {
    const json: unknown = JSON.parse(textOf(data))
    if (isObject(json)) return json
  } catch {
    // Below.
  }
  throw malformed(200)
}

/** Returns the failure for an error within a stream with status 200. */
export function reportedFailure({ type, code }: Readonly<Record<string, unknown>>): AttemptFailure {
  const words = `${String(type)} ${String(code)}`
  const providerCode = plainCode(code)
  if (words.includes('insufficient_quota')) return new AttemptFailure('insufficient_quota', 429, 'The provider limits its calls.')
  if (words.includes('rate_limit')) return new AttemptFailure('rate_limited', 429, 'The provider limits its calls.')
  return new AttemptFailure('server_error', words.includes('overloaded') ? 529 : null, 'The provider reported an error of its own.', { providerCode })
}
