import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

/** How a subgraph answers a query that has lost its mind. */
export const answers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'never answers': () => {},
  'answers half a JSON and goes': response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"data":{"evil":', () => response.socket?.destroy())
  },
  'answers what is no JSON': response => response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"evil":'),
  'answers a page': response => response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>It works!</body></html>'),
  'answers 40 MB': response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const piece = 'x'.repeat(1024 * 1024)
    let sent = 0
    const more = () => {
      while (sent++ < 40) if (!response.write(piece)) return void response.once('drain', more)
      response.end()
    }
    response.write('{"data":{"evil":"')
    more()
  },
  'answers a byte at a time without an end': response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const dribble = setInterval(() => response.write('x'), 5)
    response.once('close', () => clearInterval(dribble))
  },
  'answers a million brackets': response => response.writeHead(200, { 'content-type': 'application/json' }).end(`{"data":{"evil":${'['.repeat(1_000_000)}`),
  'answers what is no HTTP': response => void response.socket?.end('SSH-2.0-nonsense\r\n\r\n'),
}

/** How a subgraph follows a subscription that has lost its mind. */
export const streams: Readonly<Record<string, (socket: WebSocket, raw: Socket) => void>> = {
  'never acknowledges': () => {},
  'speaks no protocol': socket => acknowledge(socket, () => socket.send('nonsense')),
  'sends messages of others': socket =>
    acknowledge(socket, () => repeat(socket, () => socket.send('{"id":"other","type":"next","payload":{"data":{"evilEvents":"x"}}}'))),
  'sends errors that are none': socket => acknowledge(socket, () => socket.send('{"id":"1","type":"error","payload":"no list"}')),
  'sends bytes that are no frame': (socket, raw) => acknowledge(socket, () => raw.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))),
  'sends a frame of 20 MB': socket => acknowledge(socket, () => socket.send('x'.repeat(20 * 1024 * 1024))),
  'sends results that are none': socket =>
    acknowledge(socket, () => repeat(socket, () => socket.send('{"id":"1","type":"next","payload":{"data":[],"errors":{}}}'))),
  'sends events without a pause': socket =>
    acknowledge(socket, () =>
      repeat(socket, () => {
        for (let each = 0; each < 200; each += 1) socket.send(`{"id":"1","type":"next","payload":{"data":{"evilEvents":"${'x'.repeat(1000)}"}}}`)
      }),
    ),
  'completes at once, again and again': socket => acknowledge(socket, () => socket.send('{"id":"1","type":"complete"}')),
  'is cut after its first event': (socket, raw) =>
    acknowledge(socket, () => socket.send('{"id":"1","type":"next","payload":{"data":{"evilEvents":"x"}}}', () => raw.destroy())),
}

function acknowledge(socket: WebSocket, then: () => void): void {
  socket.on('message', data => {
    const { type } = JSON.parse(String(data))
    if (type === 'connection_init') socket.send('{"type":"connection_ack"}')
    if (type === 'subscribe') then()
    if (type === 'ping') socket.send('{"type":"pong"}')
  })
}

function repeat(socket: WebSocket, work: () => void): void {
  const timer = setInterval(() => socket.bufferedAmount < 1024 * 1024 && work(), 10)
  socket.once('close', () => clearInterval(timer))
}

/** A subgraph that misbehaves as it is told. */
export interface Evil extends AsyncDisposable {
  readonly url: string
  answer: string
  stream: string
  /** Connections that stand. */
  readonly open: number
}

export async function serveEvil(): Promise<Evil> {
  const connections = new Set<Socket>()
  const [firstAnswer = ''] = Object.keys(answers)
  const [firstStream = ''] = Object.keys(streams)
  const server = createServer((request, response) => {
    request.resume()
    response.on('error', () => {})
    answers[evil.answer]!(response)
  })
  server.on('connection', socket => {
    connections.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
  })
  new WebSocketServer({ server }).on('connection', (socket, request) => {
    socket.on('error', () => {})
    streams[evil.stream]!(socket, request.socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const evil: Evil = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    answer: firstAnswer,
    stream: firstStream,
    get open() {
      return connections.size
    },
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
  return evil
}
