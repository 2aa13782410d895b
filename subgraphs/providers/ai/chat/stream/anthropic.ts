import { AttemptFailure } from '../../attempt/failure.ts'
import { createSampler } from '../../counting/sample.ts'
import { tokensIn } from '../../wire/counts.ts'
import { isObject } from '../../wire/fields.ts'
import { reasonOf, reportedUsage } from '../anthropic/completion.ts'
import { type ChunkHead, type FinishReason, unreported, wireChunk, wireDone, wireUsageChunk } from '../completion.ts'
import { readJsonAnswer } from '../json-answer.ts'
import { parse, reportedFailure } from './openai.ts'
import { bytesOf, dataOf, type EventReader, type Reading } from './reader.ts'

/** A piece of an answer that is being written. */
interface Block {
  readonly kind: 'text' | 'call' | 'answer' | 'other'
  /** Index of the tool call. */
  readonly index: number
  /** Whether any of its input arrived. */
  hasInput: boolean
}

/** Writes the chunks of one answer: the first one begins with the role. Its head changes when the answer's id is known. */
function createChunks(head: { -readonly [Name in keyof ChunkHead]: ChunkHead[Name] }) {
  let hasBegun = false
  const chunk = (delta: object, finish: FinishReason | null = null): string => {
    const begin = hasBegun ? '' : wireChunk(head, { role: 'assistant', content: '' })
    hasBegun = true
    return begin + wireChunk(head, delta, finish)
  }
  return { head, chunk }
}

/**
 * Converts events of the Messages API to chunks of OpenAI's protocol.
 * @param answering the tool whose input is the answer itself; null where there is none
 */
export function anthropicReader({ model, includeUsage, now, wantsJson }: Reading, answering: string | null): EventReader {
  const { head, chunk } = createChunks({ id: '', created: Math.floor(now.getTime() / 1000), model })
  let reported = unreported
  const sampler = createSampler()
  let calls = 0
  let isAnswer = false
  /** Whether the tool whose input is the answer was called without any. */
  let isEmpty = false
  /** Text beside an answer that is a tool's input: it becomes the answer only when the tool is not called. */
  let aside = ''
  let reason: FinishReason = 'stop'
  let isDone = false
  const blocks = new Map<unknown, Block>()
  const jsonAnswer = wantsJson ? readJsonAnswer() : null

  const counted = (text: unknown): string => {
    if (typeof text !== 'string' || text === '') return ''
    sampler.add(text)
    return text
  }
  const contentOf = (text: string): string => {
    const own = jsonAnswer ? jsonAnswer.take(text) : text
    return own === '' ? '' : chunk({ content: own })
  }
  const argumentsOf = ({ index }: Block, given: string) => chunk({ tool_calls: [{ index, function: { arguments: given } }] })

  const started = (index: unknown, block: unknown): string => {
    if (!isObject(block)) return ''
    const isCall = block.type === 'tool_use'
    const kind = isCall ? (block.name === answering ? 'answer' : 'call') : block.type === 'text' ? 'text' : 'other'
    blocks.set(index, { kind, index: calls, hasInput: false })
    if (kind === 'answer') isAnswer = true
    if (kind !== 'call') return kind === 'text' && answering === null ? said0(block.text) : ''
    return chunk({ tool_calls: [{ index: calls++, id: block.id, type: 'function', function: { name: block.name, arguments: '' } }] })
  }
  /** The text that a block begins with: none, as a rule. */
  const said0 = (text: unknown): string => contentOf(counted(text))

  const went = (index: unknown, delta: unknown): string => {
    const block = blocks.get(index)
    if (!block || !isObject(delta)) return ''
    const given = counted(delta.type === 'text_delta' ? delta.text : delta.type === 'input_json_delta' ? delta.partial_json : '')
    if (given === '') return ''
    block.hasInput = true
    if (block.kind === 'call') return argumentsOf(block, given)
    if (block.kind === 'text' && answering !== null) aside += given
    else if (block.kind !== 'other') return contentOf(given)
    return ''
  }

  const stopped = (index: unknown): string => {
    const block = blocks.get(index)
    blocks.delete(index)
    if (!block || block.hasInput) return ''
    if (block.kind === 'answer') isEmpty = true
    // A tool call without arguments has an empty object.
    return block.kind === 'call' ? argumentsOf(block, '{}') : ''
  }

  /** Returns the rest of the text at the end. @throws AttemptFailure where it should have been JSON and was not */
  const ended = (): string => {
    // An answer that a maximum cut off before its first member is none, and no empty one.
    const late = isAnswer ? (isEmpty && reason !== 'length' ? '{}' : '') : aside
    const written = contentOf(late)
    if (reason === 'stop' && (isAnswer || calls === 0)) jsonAnswer?.end()
    return written + chunk({}, reason)
  }

  const take = (event: Readonly<Record<string, unknown>>): string => {
    switch (event.type) {
      case 'message_start': {
        const message = isObject(event.message) ? event.message : {}
        head.id = String(message.id ?? '')
        // Output tokens are counted at the end.
        reported = { ...reportedUsage(message.usage), output: null }
        return ''
      }
      case 'content_block_start':
        return started(event.index, event.content_block)
      case 'content_block_delta':
        return went(event.index, event.delta)
      case 'content_block_stop':
        return stopped(event.index)
      case 'message_delta': {
        const { delta, usage } = event
        if (isObject(usage)) {
          reported = { ...reported, output: tokensIn(usage.output_tokens) }
        }
        if (isObject(delta) && typeof delta.stop_reason === 'string') reason = reasonOf(delta.stop_reason, isAnswer)
        return ''
      }
      case 'message_stop':
        isDone = true
        return ended()
      case 'error':
        throw reportedFailure(isObject(event.error) ? event.error : {})
      // Pings and unknown event types: clients must ignore them.
      default:
        return ''
    }
  }

  return {
    take(line) {
      const data = dataOf(line)
      if (data === null || data === '' || isDone) return ''
      const written = take(parse(data))
      return written === '' ? '' : bytesOf(written)
    },
    requireEnd() {
      if (!isDone) throw new AttemptFailure('cut', null, 'The connection to the provider broke.')
    },
    last: (tokens, costMicros) => (includeUsage ? bytesOf(wireUsageChunk(head, tokens, costMicros)) : '') + wireDone,
    used: () => ({ reported, written: sampler.written }),
    get isDone() {
      return isDone
    },
  }
}
