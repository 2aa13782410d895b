import { connect, type Socket } from 'node:net'

export interface Load {
  readonly port: number
  readonly path: string
  readonly body: string
  readonly connections: number
  readonly milliseconds: number
  /** The whole body every answer must have; others are counted as bad. */
  readonly expected: Buffer
  /** Requests per second at fixed distances; without it every connection asks again as soon as it is answered. */
  readonly rate?: number | undefined
}

export interface LoadResult {
  readonly answers: number
  readonly bad: number
  readonly seconds: number
  /** Milliseconds from the moment a request was due, sorted. */
  readonly latencies: Float64Array
}

interface Connection {
  readonly socket: Socket
  due: number
}

/**
 * Loads one HTTP/1.1 address over keep-alive sockets of its own: no client library whose cost or queueing would show in the
 * latencies. Rejects when a connection breaks, because then nothing measured means anything.
 */
export function load({ port, path, body, connections, milliseconds, expected, rate }: Load): Promise<LoadResult> {
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: application/json\r\n`
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const latencies: number[] = []
  const idle: Connection[] = []
  const late: number[] = []
  let bad = 0
  let running = true
  const all: Connection[] = []
  const start = performance.now()

  const send = (connection: Connection, due: number) => {
    connection.due = due
    connection.socket.write(request)
  }
  const answered = (connection: Connection, answer: Buffer) => {
    if (!running) return
    const now = performance.now()
    latencies.push(now - connection.due)
    if (!answer.equals(expected)) bad++
    if (rate === undefined) return send(connection, now)
    const due = late.shift()
    if (due === undefined) idle.push(connection)
    else send(connection, due)
  }

  return new Promise((resolve, reject) => {
    for (let index = 0; index < connections; index++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      const connection: Connection = { socket, due: 0 }
      all.push(connection)
      readAnswers(socket, answer => answered(connection, answer))
      socket.on('error', reject)
      socket.on('close', () => running && reject(new Error('the gateway closed a connection')))
      if (rate === undefined) send(connection, start)
      else idle.push(connection)
    }
    let sent = 0
    const pace =
      rate &&
      setInterval(() => {
        // What is due now and found no free connection waits, and its wait counts.
        const wanted = Math.floor(((performance.now() - start) * rate) / 1000)
        for (; sent < wanted; sent++) {
          const due = start + (sent * 1000) / rate
          const connection = idle.pop()
          if (connection) send(connection, due)
          else late.push(due)
        }
      }, 1)
    setTimeout(() => {
      running = false
      clearInterval(pace)
      for (const { socket } of all) socket.destroy()
      resolve({ answers: latencies.length, bad, seconds: (performance.now() - start) / 1000, latencies: Float64Array.from(latencies).sort() })
    }, milliseconds)
  })
}

/** The value below which a share of sorted values lies. */
export const percentile = (sorted: Float64Array, share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Cuts a socket's bytes into answers, with a length or chunked. */
function readAnswers(socket: Socket, answered: (body: Buffer) => void): void {
  let parts: Buffer[] = []
  let length = 0
  let needed = -1
  socket.on('data', (data: Buffer) => {
    parts.push(data)
    length += data.length
    // Most of an answer's packets only add to it: they are put together when it is whole.
    if (length < needed) return
    let bytes: Buffer = parts.length === 1 ? data : Buffer.concat(parts)
    for (;;) {
      const answer = cut(bytes)
      if (typeof answer === 'number') {
        needed = answer
        break
      }
      bytes = answer.rest
      answered(answer.body)
    }
    parts = bytes.length > 0 ? [bytes] : []
    length = bytes.length
  })
}

/** One answer and what follows it; a number says how many bytes must be there before it is worth trying again. */
function cut(bytes: Buffer): { readonly body: Buffer; readonly rest: Buffer } | number {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return bytes.length + 1
  const head = bytes.toString('latin1', 0, end).toLowerCase()
  const [, length] = /\r\ncontent-length: *(\d+)/.exec(head) ?? []
  if (length !== undefined) {
    const last = end + 4 + Number(length)
    return bytes.length < last ? last : { body: bytes.subarray(end + 4, last), rest: bytes.subarray(last) }
  }
  const chunks: Buffer[] = []
  let at = end + 4
  for (;;) {
    const line = bytes.indexOf('\r\n', at)
    if (line === -1) return bytes.length + 1
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const next = line + 2 + size + 2
    if (bytes.length < next) return next
    if (size === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(next) }
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
    at = next
  }
}
