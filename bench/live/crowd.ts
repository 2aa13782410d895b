import { connect, type Socket } from 'node:net'

/** Many clients that follow one subscription over sockets of their own, and only count what they are told. */
export interface Crowd extends Disposable {
  readonly clients: number
  /** Resolves when every client has been told so many events since the beginning. Rejects when one of them is cut off. */
  told(events: number): Promise<void>
}

/** How clients ask for the subscription. */
export type Door = 'websocket' | 'sse' | 'multipart'

/** How many connect at once. */
const abreast = 100

export async function gather(clients: number, port: number, door: Door, query: string): Promise<Crowd> {
  const counts = new Uint32Array(clients)
  const sockets: Socket[] = []
  let waiting: { readonly events: number; resolve(): void; reject(cause: Error): void } | null = null
  let behind = 0
  const counted = (client: number, messages: number) => {
    for (; messages > 0; messages--) {
      counts[client]!++
      if (waiting && counts[client] === waiting.events && --behind === 0) {
        waiting.resolve()
        waiting = null
      }
    }
  }
  const join = (client: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket.setNoDelay(true))
      const cut = () => {
        const cause = new Error(`client ${client} was cut off`)
        reject(cause)
        waiting?.reject(cause)
      }
      socket.on('error', cut).on('close', cut)
      ;(door === 'websocket' ? overWebSocket : overHttp)(socket, { port, door, query, joined: resolve, told: messages => counted(client, messages) })
    })
  for (let at = 0; at < clients; at += abreast) await Promise.all(Array.from({ length: Math.min(abreast, clients - at) }, (_, offset) => join(at + offset)))
  return {
    clients,
    told(events) {
      behind = counts.reduce((sum, count) => sum + (count < events ? 1 : 0), 0)
      if (behind === 0) return Promise.resolve()
      return new Promise((resolve, reject) => {
        waiting = { events, resolve, reject }
      })
    },
    [Symbol.dispose]() {
      waiting = null
      for (const socket of sockets) socket.removeAllListeners('close').destroy()
    },
  }
}

interface Joining {
  readonly port: number
  readonly door: Door
  readonly query: string
  joined(): void
  told(messages: number): void
}

/** A text frame from a client, masked with zeros (RFC 6455, section 5.2). */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = payload.length < 126 ? Buffer.from([0x81, 0x80 | payload.length]) : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** Of a frame with its head; null while the head is not there. The events here have less than 64 KiB. */
function sizeOf(data: Buffer): number | null {
  if (data.length < 2) return null
  if (data[1]! < 126) return 2 + data[1]!
  return data.length < 4 ? null : 4 + data.readUInt16BE(2)
}

const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

function overWebSocket(socket: Socket, { port, query, joined, told }: Joining): void {
  let rest: Buffer | null = null
  let isOpen = false
  let isAcknowledged = false
  socket.write(
    `GET /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n`,
  )
  socket.on('data', (part: Buffer) => {
    let data: Buffer = rest ? Buffer.concat([rest, part]) : part
    rest = null
    if (!isOpen) {
      const end = data.indexOf('\r\n\r\n')
      if (end === -1) {
        rest = data
        return
      }
      isOpen = true
      socket.write(frame('{"type":"connection_init"}'))
      data = data.subarray(end + 4)
    }
    let messages = 0
    for (;;) {
      const size = sizeOf(data)
      if (size === null || data.length < size) break
      if (data[0] === 0x81) messages++
      else if (data[0] === 0x89) socket.write(pong)
      data = data.subarray(size)
    }
    if (data.length > 0) rest = data
    if (messages > 0 && !isAcknowledged) {
      isAcknowledged = true
      messages--
      socket.write(frame(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } })))
      joined()
    }
    if (messages > 0) told(messages)
  })
}

const accepted = { sse: 'text/event-stream', multipart: 'multipart/mixed;subscriptionSpec="1.0",application/json' }
const marks = { sse: 'event: next', multipart: '{"payload"' }

function overHttp(socket: Socket, { port, door, query, joined, told }: Joining): void {
  const kind = door as 'sse' | 'multipart'
  const body = JSON.stringify({ query })
  const mark = Buffer.from(marks[kind])
  let isOpen = false
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: ${accepted[kind]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  // An event comes in one piece: it is far below what a socket passes on at once.
  socket.on('data', (part: Buffer) => {
    if (!isOpen) joined()
    isOpen = true
    let messages = 0
    for (let at = part.indexOf(mark); at !== -1; at = part.indexOf(mark, at + mark.length)) messages++
    if (messages > 0) told(messages)
  })
}
