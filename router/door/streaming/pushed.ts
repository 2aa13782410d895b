import { GraphQLError } from 'graphql'
import type { Membership } from '../../live/shared/channel.ts'
import type { Told } from '../../live/shared/told.ts'

/** Sends events as messages of graphql-transport-ws: their JSON is ready, and only the operation's id is put before it. */
export function toldUnder(id: string, send: (text: string) => void): (told: Told) => void {
  const head = `{"id":${JSON.stringify(id)},"type":"next","payload":`
  return ({ json }) => send(`${head}${json}}`)
}

/**
 * A stream for graphql-ws that yields nothing: events go to the socket as they come, without an iterator's turns for each client. It
 * begins when it is asked for its first value, ends with the stream, and throws what the stream ended with.
 */
export function toldBy(membership: Membership, tell: (told: Told) => void): AsyncGenerator<never, void> {
  const ended = Promise.withResolvers<IteratorResult<never, void>>()
  const over = { value: undefined, done: true } as const
  let isBegun = false
  const leave = async () => {
    membership.leave()
    ended.resolve(over)
    return over
  }
  const begin = () => {
    isBegun = true
    membership.listen({
      tell,
      end([error]) {
        if (error) ended.reject(new GraphQLError(error.message, { extensions: error.extensions }))
        else ended.resolve(over)
      },
    })
  }
  return {
    next() {
      if (!isBegun) begin()
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
