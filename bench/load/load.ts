import { connect, type Socket } from 'node:net'
import { createReader } from './answers.ts'

export interface Load {
  readonly port: number
  readonly path: string
  readonly body: string
  /** Headers besides those of every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connections: number
  readonly milliseconds: number
  /** Expected body of every answer; others count as wrong. */
  readonly expected: Buffer
  /** Requests per second at fixed distances; without it every connection repeats as soon as it is answered. */
  readonly rate?: number | undefined
  /**
   * Milliseconds at the beginning in which answers are not counted: fifty connections that open at once are no steady
   * load.
   */
  readonly settle?: number | undefined
}

export interface LoadResult {
  readonly answers: number
  readonly bad: number
  readonly seconds: number
  /** Milliseconds from the moment at which a request was due, sorted. */
  readonly latencies: Float64Array
}

interface Connection {
  readonly socket: Socket
  due: number
}

/**
 * Loads one HTTP/1.1 address over its own keep-alive sockets, without a client library whose cost or queueing would
 * affect the latencies. Rejects when a connection breaks, because the measurement is invalid then.
 */
export function load({ port, path, body, headers = {}, connections, milliseconds, expected, rate, settle = 0 }: Load): Promise<LoadResult> {
  const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: application/json\r\n${more.join('')}`
  const request = Buffer.from(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  const latencies: number[] = []
  const idle: Connection[] = []
  const late: number[] = []
  let bad = 0
  let running = true
  const all: Connection[] = []
  // One for all: what a read brings is looked at before the next one happens.
  const arrived = Buffer.allocUnsafeSlow(65_536)
  const start = performance.now()
  const counted = start + settle

  const send = (connection: Connection, due: number) => {
    connection.due = due
    connection.socket.write(request)
  }
  const answered = (connection: Connection, right: boolean) => {
    if (!running) return
    const now = performance.now()
    if (connection.due >= counted) latencies.push(now - connection.due)
    if (!right) bad++
    if (rate === undefined) return send(connection, now)
    const due = late.shift()
    if (due === undefined) idle.push(connection)
    else send(connection, due)
  }

  return new Promise((resolve, reject) => {
    for (let index = 0; index < connections; index++) {
      const read = createReader(expected, right => answered(connection, right))
      const onread = {
        buffer: arrived,
        callback(count: number) {
          read(arrived, count)
          return true
        },
      }
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread })
      const connection: Connection = { socket, due: 0 }
      all.push(connection)
      socket.on('error', reject)
      socket.on('close', () => running && reject(new Error('the gateway closed a connection')))
      if (rate === undefined) send(connection, start)
      else idle.push(connection)
    }
    let sent = 0
    const pace =
      rate &&
      setInterval(() => {
        // Requests that are due but find no free connection wait, and their wait counts.
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
      resolve({ answers: latencies.length, bad, seconds: (performance.now() - counted) / 1000, latencies: Float64Array.from(latencies).sort() })
    }, settle + milliseconds)
  })
}

/** Returns the value below which a share of sorted values lies. */
export const percentile = (sorted: Float64Array, share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
