import { connect, type Socket } from 'node:net'

export interface Streams {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly streams: number
}

/** Streams in progress. */
export interface Reading {
  /** Returns the number of chunks so far, over all streams. */
  chunks(): number
  /** Returns the number of streams that ended normally. */
  ended(): number
  stop(): void
}

const data = Buffer.from('data: {')
const done = Buffer.from('data: [DONE]')

/**
 * Opens a number of streams over its own sockets, and repeats the request on each that has ended. @throws when a
 * connection breaks
 */
export function openStreams({ port, path, headers, body, streams }: Streams, failed: (error: Error) => void): Reading {
  const written = Object.entries({ host: `127.0.0.1:${port}`, 'content-type': 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const request = Buffer.from(`POST ${path} HTTP/1.1\r\n${written.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  let [chunks, ended, running] = [0, 0, true]
  const sockets: Socket[] = []
  for (let at = 0; at < streams; at++) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.on('data', (bytes: Buffer) => {
      for (let found = bytes.indexOf(data); found >= 0; found = bytes.indexOf(data, found + 7)) chunks++
      if (!bytes.includes(done)) return
      ended++
      if (running) setTimeout(() => socket.write(request), 5)
    })
    const broken = (error?: Error) => running && failed(error ?? new Error('the gateway closed a connection'))
    socket.on('error', broken)
    socket.on('close', () => broken())
    socket.write(request)
    sockets.push(socket)
  }
  return {
    chunks: () => chunks,
    ended: () => ended,
    stop() {
      running = false
      for (const socket of sockets) socket.destroy()
    },
  }
}
