import { connect, type Socket } from 'node:net'

/** Many clients that follow one subscription over separate connections, and count their events. */
export interface Crowd extends Disposable {
  readonly clients: number
  /** Returns the JSON of the first client's first event. */
  first(): string
  /** Resolves when every client has received a number of events. Rejects when one of them is disconnected. */
  told(events: number): Promise<void>
}

export interface Gathering {
  readonly clients: number
  readonly port: number
  readonly door: Door
  readonly query: string
  /** Returns a client's `Authorization` header. @default anonymous */
  readonly credential?: ((client: number) => string) | undefined
  /** Receives every event, as raw bytes. @default ignored */
  readonly heard?: ((client: number, event: Buffer) => void) | undefined
}

/** Protocol of the subscription. */
export type Door = 'websocket' | 'sse' | 'multipart'

/** Number of clients that connect at once. */
const abreast = 100

export async function gather({ clients, port, door, query, credential, heard = () => {} }: Gathering): Promise<Crowd> {
  let first = ''
  const counts = new Uint32Array(clients)
  const sockets: Socket[] = []
  let waiting: { readonly events: number; resolve(): void; reject(cause: Error): void } | null = null
  let behind = 0
  const counted = (client: number, event: Buffer) => {
    if (client === 0 && first === '') first = event.toString()
    heard(client, event)
    counts[client]!++
    if (waiting && counts[client] === waiting.events && --behind === 0) {
      waiting.resolve()
      waiting = null
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
      const joining = { host: `127.0.0.1:${port}`, door, query, authorization: credential?.(client), joined: resolve }
      ;(door === 'websocket' ? overWebSocket : overHttp)(socket, { ...joining, told: event => counted(client, event) })
    })
  for (let at = 0; at < clients; at += abreast) await Promise.all(Array.from({ length: Math.min(abreast, clients - at) }, (_, offset) => join(at + offset)))
  return {
    clients,
    // Each door puts a frame of its own around it.
    first: () => first.slice(first.indexOf('{"data"'), first.indexOf('}}}}') + 4),
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
  readonly host: string
  readonly authorization: string | undefined
  readonly door: Door
  readonly query: string
  joined(): void
  told(event: Buffer): void
}

/** A text frame from a client, masked with zeros (RFC 6455, section 5.2). */
function frame(text: string): Buffer {
  const payload = Buffer.from(text)
  const head = payload.length < 126 ? Buffer.from([0x81, 0x80 | payload.length]) : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 255])
  return Buffer.concat([head, Buffer.alloc(4), payload])
}

/** Returns the size of a frame with its header; null while the header is incomplete. Events here are below 64 KiB. */
function sizeOf(data: Buffer): number | null {
  if (data.length < 2) return null
  if (data[1]! < 126) return 2 + data[1]!
  return data.length < 4 ? null : 4 + data.readUInt16BE(2)
}

const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

function overWebSocket(socket: Socket, { host, query, authorization, joined, told }: Joining): void {
  let rest: Buffer | null = null
  let isOpen = false
  let isAcknowledged = false
  socket.write(
    `GET /graphql HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n`,
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
      socket.write(frame(JSON.stringify({ type: 'connection_init', payload: { authorization } })))
      data = data.subarray(end + 4)
    }
    for (;;) {
      const size = sizeOf(data)
      if (size === null || data.length < size) break
      const message = data.subarray(0, size)
      data = data.subarray(size)
      if (message[0] === 0x89) socket.write(pong)
      else if (message[0] !== 0x81) continue
      else if (isAcknowledged) told(message)
      else {
        isAcknowledged = true
        socket.write(frame(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } })))
        joined()
      }
    }
    if (data.length > 0) rest = data
  })
}

const accepted = { sse: 'text/event-stream', multipart: 'multipart/mixed;subscriptionSpec="1.0",application/json' }
const marks = { sse: 'event: next', multipart: '{"payload"' }

function overHttp(socket: Socket, { host, door, query, authorization, joined, told }: Joining): void {
  const kind = door as 'sse' | 'multipart'
  const body = JSON.stringify({ query })
  const mark = Buffer.from(marks[kind])
  const proof = authorization === undefined ? '' : `authorization: ${authorization}\r\n`
  let isOpen = false
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: ${host}\r\n${proof}accept: ${accepted[kind]}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  // An event comes in one piece: it is far below what a socket passes on at once.
  socket.on('data', (part: Buffer) => {
    if (!isOpen) joined()
    isOpen = true
    for (let at = part.indexOf(mark); at !== -1; ) {
      const next = part.indexOf(mark, at + mark.length)
      told(part.subarray(at, next === -1 ? part.length : next))
      at = next
    }
  })
}
