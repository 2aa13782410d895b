import type { FastifyReply } from 'fastify'

/** A signal that aborts when the client leaves before it has its answer. */
export function leavingSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  // Of the response, not of the request: a request also closes when it was merely read to its end.
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort()
  })
  return gone.signal
}
