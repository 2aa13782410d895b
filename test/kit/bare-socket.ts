import { type ClientOptions, WebSocket } from 'ws'
import { until } from './launch.ts'

/** A message of graphql-transport-ws, as it came. */
export interface Message {
  readonly type: string
  readonly id?: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly payload?: any
}

/** A WebSocket that knows nothing of the protocol: it sends what a test writes, and keeps what it is sent. */
export interface BareSocket {
  readonly socket: WebSocket
  readonly messages: readonly Message[]
  /** With what it was closed. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
  /** Sends a value as JSON; text and bytes as they are. */
  send(message: unknown): void
  /** Waits for the message that comes after so many of the same type and id. */
  got(type: string, id?: string, after?: number): Promise<Message>
  /** Introduces itself, and waits until it is taken. */
  init(payload?: unknown): Promise<Message>
  subscribe(id: string, query: string, more?: object): void
  /** Waits until everything that was sent has been read: messages are taken in order. */
  read(): Promise<void>
}

export interface Dialling extends ClientOptions {
  /** @default graphql-transport-ws */
  readonly protocols?: readonly string[]
  /** @default /graphql */
  readonly path?: string
}

/** Dials `/graphql` of a running router, or another path. Rejects when the handshake is refused. */
export async function dial(url: string, { protocols = ['graphql-transport-ws'], path = '/graphql', ...options }: Dialling = {}): Promise<BareSocket> {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, [...protocols], options)
  const messages: Message[] = []
  socket.on('message', data => messages.push(JSON.parse(String(data))))
  const closed = new Promise<{ code: number; reason: string }>(resolve => socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })))
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject))
  const send = (message: unknown) => socket.send(typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message))
  const got: BareSocket['got'] = (type, id, after = 0) =>
    until(`a message ${type} ${id ?? ''} comes`, () => messages.filter(message => message.type === type && message.id === id)[after])
  let reads = 0
  return {
    socket,
    messages,
    closed,
    send,
    got,
    async init(payload) {
      send({ type: 'connection_init', payload })
      return got('connection_ack')
    },
    subscribe: (id, query, more = {}) => send({ id, type: 'subscribe', payload: { query, ...more } }),
    async read() {
      const mark = `read ${++reads}`
      send({ type: 'ping', payload: { mark } })
      await until('it was read', () => messages.some(({ type, payload }) => type === 'pong' && payload?.mark === mark))
    },
  }
}
