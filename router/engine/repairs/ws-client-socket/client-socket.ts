import type { RawData, WebSocket } from 'ws'

/** What graphql-ws's client uses of a socket. */
interface ClientSocket {
  readonly readyState: number
  send(text: string): void
  close(code?: number, reason?: string): void
  onopen: (() => void) | null
  onmessage: ((event: { readonly data: unknown }) => void) | null
  onerror: ((cause: Error) => void) | null
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null
}

/**
 * A socket that is opened already, as graphql-ws's client wants one (`webSocketImpl`).
 * @param readable a message as the client is given it, as an object or as a text; undefined for one that it is not to hear of
 */
export function clientSocket(socket: WebSocket, readable: (data: RawData) => unknown): unknown {
  const given: ClientSocket = {
    get readyState() {
      return socket.readyState
    },
    send: text => socket.send(text),
    close: (code, reason) => socket.close(code, reason),
    onopen: null,
    onmessage: null,
    onerror: null,
    onclose: null,
  }
  socket.on('open', () => given.onopen?.())
  socket.on('message', message => {
    const data = readable(message)
    if (data !== undefined) given.onmessage?.({ data })
  })
  socket.on('error', cause => given.onerror?.(cause))
  socket.on('close', (code, reason) => given.onclose?.({ code, reason: String(reason) }))
  function GivenSocket() {
    return given
  }
  return Object.assign(GivenSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })
}
