import { type AddressInfo, createServer, type Socket } from 'node:net'
import { parse } from 'graphql'
import type { Fetch, FetchCall } from '../../../router/engine/engine.ts'
import { createRemoteTransport, type RemoteOptions, type RemoteTransport } from '../../../router/engine/transport/remote.ts'
import { Work } from '../../../router/engine/work.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'

/** One request as it stood on the wire. */
export interface RawRequest {
  /** The request line and the headers. */
  readonly head: string
  readonly body: string
  readonly socket: Socket
  /** Which of all requests it is, from 1. */
  readonly turn: number
}

/** A server that speaks bytes: what no HTTP server would answer, it does. */
export interface RawServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  readonly requests: RawRequest[]
  /** Connections that were ever made. */
  readonly accepted: number
  readonly connections: ReadonlySet<Socket>
}

export async function serveRaw(answer: (request: RawRequest) => void, host = '127.0.0.1'): Promise<RawServer> {
  const requests: RawRequest[] = []
  const connections = new Set<Socket>()
  let accepted = 0
  const server = createServer(socket => {
    accepted++
    connections.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
    let read = ''
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      read += text
      for (;;) {
        const end = read.indexOf('\r\n\r\n')
        if (end === -1) return
        const length = Number(/content-length: *(\d+)/i.exec(read.slice(0, end))?.[1] ?? 0)
        if (read.length < end + 4 + length) return
        const request = { head: read.slice(0, end), body: read.slice(end + 4, end + 4 + length), socket, turn: requests.length + 1 }
        read = read.slice(end + 4 + length)
        requests.push(request)
        answer(request)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/graphql`,
    requests,
    get accepted() {
      return accepted
    },
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** An answer with its length. */
export const http = (body: string | Buffer, head = '200 OK', headers = ''): string =>
  `HTTP/1.1 ${head}\r\ncontent-type: application/json\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

export const okay = '{"data":{"name":"x"}}'

const fetches = Object.fromEntries(
  (['query', 'mutation', 'subscription'] as const).map(kind => [
    kind,
    { subgraph: 'one', text: `${kind} { name }`, document: parse(`${kind} { name }`), kind },
  ]),
) as Record<Fetch['kind'], Fetch>

/** The remote transport before one address. */
export interface OneTransport extends AsyncDisposable {
  readonly transport: RemoteTransport
  ask(kind?: 'query' | 'mutation', call?: Partial<FetchCall>): ReturnType<RemoteTransport['fetch']>
  subscribe(call?: Partial<FetchCall>): ReturnType<RemoteTransport['subscribe']>
}

export function transportTo(url: string | readonly string[], options: Omit<RemoteOptions, 'subgraphs'> = {}): OneTransport {
  const transport = createRemoteTransport({ timeoutMs: 2000, ...options, subgraphs: new Map([['one', { url }]]) })
  const callOf = (call: Partial<FetchCall> = {}): FetchCall => ({
    variables: {},
    viewer: anonymous,
    requestId: 'request-1',
    operation: new Work('request-1', call.signal, undefined, () => performance.now()),
    ...call,
  })
  return {
    transport,
    ask: async (kind = 'query', call) => transport.fetch(fetches[kind], callOf(call)),
    subscribe: async call => transport.subscribe(fetches.subscription, callOf(call)),
    [Symbol.asyncDispose]: () => transport.close(),
  }
}
