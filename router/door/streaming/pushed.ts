import { GraphQLError } from 'graphql'
import type { Membership } from '../../live/shared/channel.ts'
import type { Told } from '../../live/shared/told.ts'

/** Sends events as messages of graphql-transport-ws: their JSON is ready, and only the operation's id is put before it. */
export function toldUnder(id: string, send: (text: string) => void): (told: Told) => void {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return ({ json }) => send(`${head}${json}}`)
}

/** An operation of which there is neither a result nor a stream yet. */
export interface UnderWay {
  /** Aborts when the client completes the operation, or is gone: what it asked is for nobody then. */
  readonly signal: AbortSignal
  /**
   * What graphql-ws keeps under the operation's id meanwhile. It ends it as it ends a stream, so that a later operation with the same id
   * is another one: for graphql-ws, which keeps nothing else, the result of the former would be that of the later.
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

/** What comes of an operation; nothing, for ever, once it is over: graphql-ws then has no more to do with it, and forgets it. */
export const unlessOver = <Result>(result: Result, signal: AbortSignal): Result | Promise<never> => (signal.aborted ? forNobody() : result)

/** The result of an operation that is over already. */
export const forNobody = (): Promise<never> => new Promise<never>(() => {})

/**
 * A stream for graphql-ws that yields nothing: events go to the socket as they come, without an iterator's turns for each client. It
 * begins when it is asked for its first value, ends with the stream, and throws what the stream ended with.
 */
export function toldBy(membership: Membership, tell: (told: Told) => void): AsyncGenerator<never, void> {
  const ended = Promise.withResolvers<IteratorResult<never, void>>()
  const over = { value: undefined, done: true } as const
  const leave = async () => {
    membership.leave()
    ended.resolve(over)
    return over
  }
  return {
    // The first result decides how the stream ends.
    next() {
      membership.listen({
        tell,
        end([error]) {
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
