import { connect, type Socket } from 'node:net'

/** A connection that is written by hand, and read only when somebody wants to. */
export interface Wire {
  readonly socket: Socket
  /** The beginning of what came. */
  text(): string
  readonly isOpen: boolean
  /** Resolves when the other side has gone, or this one. */
  readonly gone: Promise<void>
  leave(): void
}

export interface Reach {
  readonly port: number
  /** An address of this machine. */
  readonly from?: string | undefined
  /** Whether what comes is read. @default true */
  readonly reads?: boolean
}

/** Opens a connection. Rejects where that is refused. */
export function reach({ port, from, reads = true }: Reach): Promise<Wire> {
  return new Promise((resolve, reject) => {
    let [text, isOpen] = ['', true]
    const socket = connect({ port, host: '127.0.0.1', ...(from && { localAddress: from }) })
    const gone = new Promise<void>(over =>
      socket.once('close', () => {
        isOpen = false
        over()
      }),
    )
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined)
      if (reads)
        socket.on('data', part => {
          if (text.length < 10_000) text += part.toString('latin1')
        })
      else socket.pause()
      resolve({
        socket,
        text: () => text,
        leave: () => socket.destroy(),
        gone,
        get isOpen() {
          return isOpen
        },
      })
    })
  })
}

/** The request for a WebSocket. */
export const upgrade = (port: number, headers = ''): string =>
  `GET /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-protocol: graphql-transport-ws\r\n${headers}\r\n`

/** A frame from a client, masked with zeros (RFC 6455 §5.2). @param first FIN and opcode */
export function frame(payload: string | Buffer, first = 0x81): Buffer {
  const bytes = Buffer.from(payload)
  const size = bytes.length
  const head =
    size < 126
      ? Buffer.from([first, 0x80 | size])
      : size < 65_536
        ? Buffer.from([first, 0xfe, size >> 8, size & 255])
        : Buffer.from([first, 0xff, 0, 0, 0, 0, size >>> 24, (size >> 16) & 255, (size >> 8) & 255, size & 255])
  return Buffer.concat([head, Buffer.alloc(4), bytes])
}

/** A POST with its body. */
export function post(port: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { host: `127.0.0.1:${port}`, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers }
  return `POST /graphql HTTP/1.1\r\n${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`
}

/** Writes, and waits while the other side does not read; gives up when it is gone or the time is over. */
export async function pour(wire: Wire, bytes: string | Buffer, overAt: number): Promise<void> {
  if (!wire.isOpen || wire.socket.write(bytes)) return
  await Promise.race([new Promise(resolve => wire.socket.once('drain', resolve)), wire.gone, until(overAt)])
}

export const until = (at: number): Promise<void> => new Promise(resolve => setTimeout(resolve, Math.max(0, at - performance.now())))
