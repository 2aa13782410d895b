import { GraphQLError } from 'graphql'
import type { IncrementalAnswer, Payload } from '../../engine/engine.ts'
import type { Membership } from '../../live/shared/channel.ts'
import type { StreamMessage } from '../../live/shared/message.ts'

/** Sends events as messages of graphql-transport-ws: their JSON is ready, only the operation's id is prefixed. */
export function sendUnder(id: string, send: (text: string) => void): (message: StreamMessage) => void {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return ({ json }) => send(`${head}${json}}`)
}

/** An operation without a result or stream yet. */
export interface UnderWay {
  /** Aborts when the client completes the operation or disconnects: nobody waits for its result then. */
  readonly signal: AbortSignal
  /**
   * Placeholder that graphql-ws stores under the operation's id meanwhile. graphql-ws ends it like a stream, so that a
   * later operation with the same id is distinct; with nothing stored, graphql-ws would give the later operation the
   * former one's result.
   */
  readonly kept: AsyncGenerator<never, void>
}

export function underWay(): UnderWay {
  const ending = new AbortController()
  const end = async () => {
    ending.abort()
    return { value: undefined, done: true } as const
  }
  const kept: AsyncGenerator<never, void> = {
    next: end,
    return: end,
    throw: end,
    [Symbol.asyncIterator]: () => kept,
    [Symbol.asyncDispose]: () => end().then(() => {}),
  }
  return { signal: ending.signal, kept }
}

/** The payloads of an incremental answer as graphql-ws takes them, and when they have ended, on either side. */
export function payloadsOf(answer: IncrementalAnswer): { readonly payloads: AsyncGenerator<Payload, undefined>; readonly ended: Promise<void> } {
  const ended = Promise.withResolvers<void>()
  const leave = () => {
    ended.resolve()
    return answer.return()
  }
  const payloads: AsyncGenerator<Payload, undefined> = {
    async next() {
      const each = await answer.next()
      if (each.done) ended.resolve()
      return each
    },
    return: leave,
    throw: cause => leave().then(() => Promise.reject(cause)),
    [Symbol.asyncIterator]: () => payloads,
    [Symbol.asyncDispose]: () => leave().then(() => {}),
  }
  return { payloads, ended: ended.promise }
}

/** Returns the result of an operation, or never settles once the operation is over: graphql-ws then forgets it. */
export const unlessOver = <Result>(result: Result, signal: AbortSignal): Result | Promise<never> => (signal.aborted ? forNobody() : result)

/** The result of an operation that is over already. */
export const forNobody = (): Promise<never> => new Promise<never>(() => {})

/**
 * A stream for graphql-ws that yields nothing: events go to the socket directly, without an iterator's turns for each
 * client. It begins when its first value is requested, ends with the stream, and throws the stream's error.
 * @param open the socket's subscriptions whose events have parts that come later; null for another one
 */
export function eventsOf(membership: Membership, send: (message: StreamMessage) => void, open: Set<Membership> | null): AsyncGenerator<never, void> {
  const ended = Promise.withResolvers<IteratorResult<never, void>>()
  const over = { value: undefined, done: true } as const
  open?.add(membership)
  const leave = async () => {
    open?.delete(membership)
    membership.leave()
    ended.resolve(over)
    return over
  }
  return {
    // The first result decides how the stream ends.
    next() {
      membership.listen({
        send,
        end([error]) {
          open?.delete(membership)
          if (error) ended.reject(new GraphQLError(error.message, { extensions: error.extensions }))
          else ended.resolve(over)
        },
      })
      return ended.promise
    },
    return: leave,
    throw: cause => leave().then(() => Promise.reject(cause)),
    [Symbol.asyncIterator]() {
      return this
    },
    [Symbol.asyncDispose]: () => leave().then(() => {}),
  }
}
