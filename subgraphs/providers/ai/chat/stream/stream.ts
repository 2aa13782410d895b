import type { StreamedAnswer } from '../../../../../platform/outbound/stream.ts'
import { AttemptFailure, failureOfWay } from '../../attempt/failure.ts'
import { malformed } from '../../attempt/upstream.ts'
import type { Tokens } from '../completion.ts'
import type { EventReader, Used } from './reader.ts'

/** A stream of our chunks whose first event has arrived. */
export interface ChatStream {
  /**
   * Returns the next events for the client; null at the provider's end.
   * @throws AttemptFailure when it breaks off, OutboundFailure of kind `left` when it was cancelled
   */
  next(): Promise<Uint8Array | null>
  /** Checks the end. @throws AttemptFailure when the provider had not finished */
  requireEnd(): void
  /** Returns the last events. @param costMicros null when no price is known */
  last(tokens: Tokens, costMicros: bigint | null): Uint8Array
  /** Returns the usage so far, as the provider reports it, or as counted here. */
  tokens(): Promise<Tokens>
  /** Cancels the stream, and closes the provider's connection at once. */
  cancel(): void
}

/** Maximum bytes of a line of an event stream: our own events have a hundredth of that. */
const longestLine = 1024 * 1024

/**
 * Reads a provider's stream until its first event.
 * @param tokensOf counts the usage, where the provider does not report it
 * @throws AttemptFailure while another candidate may still be tried, OutboundFailure of kind `left`
 */
export async function openStream(answer: StreamedAnswer, reader: EventReader, tokensOf: (used: Used) => Promise<Tokens>): Promise<ChatStream> {
  const body = answer.body[Symbol.asyncIterator]()
  let rest = ''
  let hasEnded = false

  const read = (piece: Uint8Array): string => {
    const text = rest + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('latin1')
    let events = ''
    let begins = 0
    for (let end = text.indexOf('\n', rest.length); end !== -1; end = text.indexOf('\n', begins)) {
      // Most lines between events are empty.
      if (end > begins) events += reader.take(text.slice(begins, end))
      begins = end + 1
    }
    rest = begins === 0 ? text : text.slice(begins)
    if (rest.length > longestLine) throw malformed(200)
    return events
  }

  const next = async (): Promise<Uint8Array | null> => {
    try {
      while (!hasEnded) {
        const { value, done } = await body.next()
        if (done) {
          hasEnded = true
          // The last line may lack a line end.
          const events = rest === '' ? '' : reader.take(rest)
          if (events !== '') return Buffer.from(events, 'latin1')
          break
        }
        const events = read(value)
        if (reader.isDone) {
          hasEnded = true
          void drained(answer, body)
        }
        if (events !== '') return Buffer.from(events, 'latin1')
      }
      return null
    } catch (error) {
      answer.cancel()
      throw (error as { kind?: string }).kind === 'left' ? error : failureOfWay(error)
    }
  }

  let first = await next()
  if (first === null) {
    answer.cancel()
    throw new AttemptFailure('malformed', answer.status, 'The provider answered in a form that its protocol does not have.')
  }
  return {
    async next() {
      if (first === null) return await next()
      const piece = first
      first = null
      return piece
    },
    requireEnd: reader.requireEnd,
    last: (tokens, costMicros) => Buffer.from(reader.last(tokens, costMicros), 'latin1'),
    tokens: () => tokensOf(reader.used()),
    cancel: answer.cancel,
  }
}

/**
 * Reads a body to its end after its last event, so that the connection can be reused; a provider that continues is cut.
 */
async function drained(answer: StreamedAnswer, body: AsyncIterator<Uint8Array>): Promise<void> {
  await body.next().then(
    ({ done }) => done || answer.cancel(),
    () => {},
  )
}
