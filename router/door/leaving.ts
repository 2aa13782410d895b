import type { ServerResponse } from 'node:http'

/** A signal that aborts when the client leaves before it has its answer. */
export function leavingSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Of the response, not of the request: a request also closes when it was merely read to its end.
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}
