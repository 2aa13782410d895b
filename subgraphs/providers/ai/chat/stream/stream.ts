import type { StreamedAnswer } from '../../../../../platform/outbound/stream.ts'
import { AttemptFailure, failureOfWay } from '../../attempt/failure.ts'
import { malformed } from '../../attempt/upstream.ts'
import type { Tokens } from '../completion.ts'
import type { EventReader, Used } from './reader.ts'

/** A stream of chunks of ours, whose first event is there. */
export interface ChatStream {
  /**
   * What goes to the client next: whole events; null once the provider has come to its end.
   * @throws AttemptFailure when it breaks off, OutboundFailure of kind `left` when it was left
   */
  next(): Promise<Uint8Array | null>
  /** Takes the end. @throws AttemptFailure when the provider had not come to it */
  requireEnd(): void
  /** The last events. */
  last(tokens: Tokens): Uint8Array
  /** What was used so far, as the provider says, or as it is counted here. */
  tokens(): Promise<Tokens>
  /** Leaves it: the provider is told at once, by its connection. */
  cancel(): void
}

/** The longest line of an event stream, in bytes: an event of ours is a hundredth of that. */
const longestLine = 1024 * 1024

/**
 * Reads a provider's stream until its first event is there.
 * @param tokensOf counts what was used, where the provider does not say it
 * @throws AttemptFailure while another candidate may still be asked, OutboundFailure of kind `left`
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
    throw new AttemptFailure('malformed', answer.status, 'The provider answered with something that is not its protocol’s.')
  }
  return {
    async next() {
      if (first === null) return await next()
      const piece = first
      first = null
      return piece
    },
    requireEnd: reader.requireEnd,
    last: tokens => Buffer.from(reader.last(tokens), 'latin1'),
    tokens: () => tokensOf(reader.used()),
    cancel: answer.cancel,
  }
}

/** After its last event a connection is free for another call, once its body has ended; who goes on is left. */
async function drained(answer: StreamedAnswer, body: AsyncIterator<Uint8Array>): Promise<void> {
  await body.next().then(
    ({ done }) => done || answer.cancel(),
    () => {},
  )
}
