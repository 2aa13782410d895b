import { malformed } from '../../attempt/upstream.ts'
import { tokensIn } from '../../wire/counts.ts'
import { type Given, isObject } from '../../wire/fields.ts'
import type { FinishReason, ReportedUsage, Uncounted } from '../completion.ts'
import type { ToolCall } from '../messages.ts'
import type { ChatRequest } from '../request.ts'
import { answeringTool } from './request.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** Converts the reason of the end. @param isAnswer whether the called tool stands for the answer */
export const reasonOf = (given: unknown, isAnswer: boolean): FinishReason => {
  const reason = (typeof given === 'string' && reasons[given]) || 'stop'
  return isAnswer && reason === 'tool_calls' ? 'stop' : reason
}

/** Converts the usage: Anthropic reports cached and newly cached tokens beside the input, OpenAI within it. */
export function reportedUsage(usage: unknown): ReportedUsage {
  const {
    input_tokens: input,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: made,
    cache_creation: lasting,
    output_tokens: output,
  } = isObject(usage) ? usage : ({} as Given)
  const [own, kept, written] = [tokensIn(input), tokensIn(read) ?? 0, tokensIn(made) ?? 0]
  const long = (isObject(lasting) && tokensIn(lasting.ephemeral_1h_input_tokens)) || 0
  return { input: own === null ? null : own + kept + written, output: tokensIn(output), cached: kept, kept: written, keptLong: long, reasoning: 0 }
}

/**
 * Reads a `message`.
 * @throws AttemptFailure `malformed` for anything else
 */
export function readMessage(json: Given, request: ChatRequest, now: Date): Uncounted {
  if (json.type !== 'message' || !Array.isArray(json.content)) throw malformed(200)
  const answering = answeringTool(request)
  let content: string | null = null
  let isAnswer = false
  const toolCalls: ToolCall[] = []
  for (const block of json.content as unknown[]) {
    if (!isObject(block)) throw malformed(200)
    if (block.type === 'text' && typeof block.text === 'string') content = (content ?? '') + block.text
    if (block.type !== 'tool_use' || typeof block.name !== 'string') continue
    if (block.name === answering?.name) {
      // The tool's input is the answer, not the text before it. A truncated input is no valid JSON, so the answer is
      // empty.
      content = reasonOf(json.stop_reason, true) === 'length' ? '' : JSON.stringify(block.input ?? {})
      isAnswer = true
    } else toolCalls.push({ id: String(block.id), type: 'function', function: { name: block.name, arguments: JSON.stringify(block.input ?? {}) } })
  }
  if (isAnswer) toolCalls.length = 0
  return {
    id: typeof json.id === 'string' ? json.id : '',
    created: Math.floor(now.getTime() / 1000),
    content,
    refusal: null,
    toolCalls,
    finishReason: reasonOf(json.stop_reason, isAnswer),
    reported: reportedUsage(json.usage),
  }
}
