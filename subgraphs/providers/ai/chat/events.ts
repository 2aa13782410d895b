import { Readable } from 'node:stream'
import type { Answered } from '../../engines/models/engine.ts'
import { AttemptFailure } from '../attempt/failure.ts'
import { type Tokens, usageOf } from './completion.ts'
import type { ChatStream } from './stream/stream.ts'

/** Counts open streams. */
export interface OpenStreams {
  opened(): void
  closed(): void
}

/**
 * Builds the events that a client reads. The call's result is stored before the last bytes are sent, so that a client
 * that has them finds it in the log. When a client leaves, the provider's stream is cancelled at once.
 * @param signal aborts when the client leaves, even before it reads
 */
export function eventsOf({ answer, succeeded, failed, left }: Answered<ChatStream>, streams: OpenStreams, signal: AbortSignal): Readable {
  let isOver = false
  streams.opened()
  const over = () => {
    isOver = true
    streams.closed()
    signal.removeEventListener('abort', leave)
  }
  const used = async () => usageOf(await answer.tokens())
  /** Handles a client that no longer reads. */
  const leave = () => {
    if (isOver) return
    over()
    answer.cancel()
    void used().then(left)
    body.push(null)
  }

  const next = async (): Promise<void> => {
    let tokens: Tokens
    try {
      const piece = await answer.next()
      if (isOver) return
      if (piece !== null) return void body.push(piece)
      answer.requireEnd()
      tokens = await answer.tokens()
      if (isOver) return
    } catch (failure) {
      if (isOver) return
      if ((failure as { kind?: string }).kind === 'left') return leave()
      over()
      answer.cancel()
      await failed(await used())
      return end(errorEvent(failure))
    }
    over()
    const costMicros = await succeeded(usageOf(tokens))
    end(answer.last(tokens, costMicros))
  }
  const end = (last: Uint8Array) => {
    body.push(last)
    body.push(null)
  }

  const body = new Readable({
    read: () => void next(),
    destroy(error, done) {
      leave()
      done(error)
    },
  })
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  return body
}

/** Builds the event for a stream that broke off: after its first byte a stream has no status. */
const errorEvent = (failure: unknown): Uint8Array => {
  const code = failure instanceof AttemptFailure ? (failure.providerCode ?? failure.failure) : null
  return Buffer.from(
    `data: ${JSON.stringify({ error: { message: 'The provider cut off its answer: send the request again.', type: 'upstream_error', param: null, code } })}\n\n`,
  )
}
