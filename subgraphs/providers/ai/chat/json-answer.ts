import { isUnwieldy } from '../../../http/depth.ts'
import type { Usage } from '../../engines/models/prices.ts'
import { AttemptFailure } from '../attempt/failure.ts'
import { type Completion, usageOf } from './completion.ts'
import type { ChatRequest } from './request.ts'

/**
 * Extracts the JSON object from an answer that must be one. Models put text or a code fence around it, which is
 * dropped.
 */
export interface JsonAnswer {
  /**
   * Returns the part of a piece that belongs to the object.
   * @throws AttemptFailure `not_json` as soon as the answer cannot be a single object any more
   */
  take(piece: string): string
  /** Checks that the object is whole. @throws AttemptFailure `not_json` */
  end(): void
}

const notJson = (used: Usage | null = null): AttemptFailure =>
  new AttemptFailure('not_json', 200, 'The model answered with something that is not the JSON object that was asked for.', { used })

/** Whether an answer has to be a JSON object. */
export const wantsJson = ({ responseFormat }: Pick<ChatRequest, 'responseFormat'>): boolean => responseFormat !== null && responseFormat.type !== 'text'

export function readJsonAnswer(): JsonAnswer {
  let before = ''
  let object = ''
  let depth = 0
  let isText = false
  let isEscaped = false
  let isWhole = false

  /** Returns where the object ends in a piece; its length where it does not. */
  const endIn = (piece: string): number => {
    for (let at = 0; at < piece.length; at++) {
      const character = piece[at]
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (character === '\\') isEscaped = true
        else if (character === '"') isText = false
      } else if (character === '"') isText = true
      else if (character === '{' || character === '[') depth += 1
      else if (character === '}' || character === ']') {
        depth -= 1
        if (depth === 0) {
          isWhole = true
          return at + 1
        }
      }
    }
    return piece.length
  }
  /** Rejects another object after the first. */
  const checkBehind = (text: string) => {
    if (/[[{]/.test(text)) throw notJson()
  }

  return {
    take(piece) {
      if (isWhole) {
        checkBehind(piece)
        return ''
      }
      const begins = object === '' ? piece.indexOf('{') : 0
      if (object === '') before += begins === -1 ? piece : piece.slice(0, begins)
      if (begins === -1) return ''
      // A list of objects, or members without their object.
      if (/[[\]}"]/.test(before)) throw notJson()
      const inside = piece.slice(begins)
      const end = endIn(inside)
      const taken = inside.slice(0, end)
      object += taken
      if (isWhole) {
        checkBehind(inside.slice(end))
        // Before its last bracket is handed on: a client that has it all takes it for good.
        if (!isObject(object)) throw notJson()
      }
      return taken
    },
    end() {
      if (!isWhole) throw notJson()
    },
  }
}

function isObject(text: string): boolean {
  if (isUnwieldy(Buffer.from(text))) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Reduces a completion's content to the object where JSON was requested. Tool calls, refusals and truncated answers
 * stay unchanged: their `finish_reason` shows that they are incomplete.
 * @throws AttemptFailure `not_json`, with the usage, where the content is not a JSON object
 */
export function withJsonContent(completion: Completion, request: Pick<ChatRequest, 'responseFormat'>): Completion {
  const { content, refusal, toolCalls, finishReason, tokens } = completion
  if (!wantsJson(request) || finishReason !== 'stop' || toolCalls.length > 0 || refusal !== null) return completion
  try {
    const answer = readJsonAnswer()
    const object = answer.take(content ?? '')
    answer.end()
    return { ...completion, content: object }
  } catch {
    throw notJson(usageOf(tokens))
  }
}
