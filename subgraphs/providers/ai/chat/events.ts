import { Readable } from 'node:stream'
import type { Answered } from '../../engines/models/engine.ts'
import { AttemptFailure } from '../attempt/failure.ts'
import { type Tokens, usageOf } from './completion.ts'
import type { ChatStream } from './stream/stream.ts'

/** Counts streams that are open. */
export interface OpenStreams {
  opened(): void
  closed(): void
}

/**
 * What a client reads of a stream. What became of the call is written before its last bytes go out: whoever has them finds it in the log.
 * A client that leaves is told nothing any more, and the provider is left at once.
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
  /** Nobody reads any more. */
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
    await succeeded(usageOf(tokens))
    end(answer.last(tokens))
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

/** Tells in the stream that it broke off: what comes after its first byte has no status any more. */
const errorEvent = (failure: unknown): Uint8Array => {
  const code = failure instanceof AttemptFailure ? (failure.providerCode ?? failure.failure) : null
  return Buffer.from(
    `data: ${JSON.stringify({ error: { message: 'The provider broke off its answer: ask again.', type: 'upstream_error', param: null, code } })}\n\n`,
  )
}
