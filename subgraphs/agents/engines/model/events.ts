import { piecesBy } from './pieces.ts'
import { type Usage, usageOf } from './usage.ts'

/** What one event of a streamed completion says. */
export interface StreamEvent {
  /** Text that follows what came before; empty for none. */
  readonly text: string
  /** What the whole call used; comes once, last. */
  readonly usage: Usage | null
  /** Pieces of calls of tools that it wants; they are put together by their place. */
  readonly calls: readonly CallPiece[]
}

/** A piece of a tool call: id and name come with its first. */
export interface CallPiece {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** A stream broke off: the provider told of an error after the first piece. */
export class BrokenStream extends Error {
  override readonly name = 'BrokenStream'
}

/**
 * Reads a stream of `chat.completion.chunk`s, piece by piece, wherever the bytes are cut.
 * @param callId the call in providers' log
 * @throws BrokenStream for an error within it, and where it ends before its end
 */
export function eventsOf(body: AsyncIterable<Uint8Array>, callId: string): AsyncIterableIterator<StreamEvent> {
  const source = body[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  let rest = ''
  let isDone = false
  /** What the lines of one piece say; null for nothing. */
  const read = (bytes: Uint8Array): StreamEvent | null => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!
    let text = ''
    let usage: Usage | null = null
    const calls: CallPiece[] = []
    for (const line of lines) {
      const data = line.startsWith('data:') ? line.slice(5).trim() : ''
      if (data === '[DONE]') isDone = true
      if (data === '' || data === '[DONE]') continue
      const event = readChunk(data, callId)
      text += event.text
      calls.push(...event.calls)
      usage = event.usage ?? usage
    }
    return text !== '' || usage || calls.length > 0 ? { text, usage, calls } : null
  }
  return piecesBy(
    async () => {
      for (;;) {
        const { value, done } = await source.next()
        if (!done) {
          const event = read(value)
          if (event) return event
        } else if (isDone) return undefined
        else throw new BrokenStream('The answer of the model was cut off.')
      }
    },
    () => source.return?.(),
  )
}

interface Chunk {
  readonly error?: { readonly message?: string }
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null
      readonly tool_calls?: readonly {
        readonly index?: number
        readonly id?: string
        readonly function?: { readonly name?: string; readonly arguments?: string }
      }[]
    }
  }[]
  readonly usage?: { readonly prompt_tokens?: number; readonly completion_tokens?: number } | null
  readonly cost_micros?: number
}

function readChunk(data: string, callId: string): StreamEvent {
  const { error, choices = [], usage, cost_micros: costMicros } = JSON.parse(data) as Chunk
  if (error) throw new BrokenStream(error.message ?? 'The answer of the model was cut off.')
  const used =
    usage && usageOf({ callId, costMicros: costMicros ?? null, inputTokens: usage.prompt_tokens ?? null, outputTokens: usage.completion_tokens ?? null })
  const { content, tool_calls: pieces = [] } = choices[0]?.delta ?? {}
  const calls = pieces.map(({ index = 0, id = '', function: made }) => ({ index, id, name: made?.name ?? '', arguments: made?.arguments ?? '' }))
  return { text: content ?? '', usage: used ?? null, calls }
}
