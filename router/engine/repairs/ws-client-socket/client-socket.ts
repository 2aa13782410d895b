import type { RawData, WebSocket } from 'ws'
import { isData } from '../../data/merge.ts'

/** The part of a WebSocket that graphql-ws's client uses. */
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
 * An already opened socket in the form that graphql-ws's client wants (`webSocketImpl`). Once the connection is
 * accepted, the client receives only messages of its one operation, up to its end, in the form that it insists on: an
 * event without a payload becomes an empty one, and an error becomes a list of one whose `serverErrors` holds the
 * server's errors.
 * @param id    of the operation
 * @param heard called with the bytes of each message, before the client receives it
 */
export function clientSocket(socket: WebSocket, id: string, heard: (bytes: number) => void): unknown {
  let state: 'connecting' | 'accepted' | 'complete' = 'connecting'
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
  /** Converts a message for the client; undefined for a message that the client must not receive. */
  const inForm = (data: RawData): unknown => {
    const message = messageOf(data)
    // The client itself refuses messages that are not valid.
    if (!message) return String(data)
    const { type, payload } = message
    if (state === 'connecting') {
      if (type === 'connection_ack') state = 'accepted'
      return message
    }
    if (type === 'ping' || type === 'pong') return { type, ...(isData(payload) && { payload }) }
    if (message.id !== id) return undefined
    if (type === 'next') return { id, type, payload: isData(payload) ? payload : {} }
    if (type === 'error') return { id, type, payload: [{ message: 'refused', serverErrors: payload }] }
    if (type !== 'complete') return undefined
    state = 'complete'
    return { id, type }
  }
  socket.on('open', () => given.onopen?.())
  socket.on('message', received => {
    const data = state === 'complete' ? undefined : inForm(received)
    heard(sizeOf(received))
    if (data !== undefined) given.onmessage?.({ data })
  })
  socket.on('error', cause => given.onerror?.(cause))
  socket.on('close', (code, reason) => given.onclose?.({ code, reason: String(reason) }))
  function GivenSocket() {
    return given
  }
  return Object.assign(GivenSocket, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 })
}

function messageOf(data: RawData): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(String(data))
    return isData(message) ? message : null
  } catch {
    return null
  }
}

const sizeOf = (data: RawData): number => (Array.isArray(data) ? data.reduce((bytes, piece) => bytes + piece.length, 0) : data.byteLength)
