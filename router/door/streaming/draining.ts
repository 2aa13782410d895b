import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'

/** Milliseconds that running requests may take to end while a server closes; then their connections are cut. */
export const requestDrainMs = 2_500

/** Milliseconds that sending the last event of a stream may take. */
const farewellMs = 1_000

/** Why a stream of events ends before its source: the server stops, or the source failed. */
export type EarlyEnd = 'stopping' | 'broken'

/** Ends the connections of closing servers: those of requests soon, those of streams when the streams' time is over. */
export interface Draining {
  /** Tracks the connections of a server, from before it listens. */
  watch(server: Server): void
  /** Grants an answer the longer time of streams. */
  spare(response: ServerResponse): void
  /**
   * Forwards a stream of events, whole events only, and grants it the longer time of streams. When it ends early,
   * `farewell` writes its last event.
   * @param events server-sent events, each followed by an empty line
   */
  pass(events: Readable, response: ServerResponse, farewell: (why: EarlyEnd) => string): Readable
  /** Milliseconds that the open connections may take to end; streams among them have their own limit. */
  readonly withinMs: number
  /** Starts both times. Returns a function that stops them, for when all connections have ended. */
  begin(): () => void
}

/**
 * @param streamMs how long streams may continue after the servers began to close, in ms @default as long as requests
 */
export function createDraining(streamMs = requestDrainMs): Draining {
  const sockets = new Set<Socket>()
  const streaming = new Set<Socket>()
  /** Functions that each end one open stream of events. */
  const endings = new Set<() => void>()
  const allMs = Math.max(requestDrainMs, streamMs + farewellMs)
  let isOver = false

  const cut = (isSpared: (socket: Socket) => boolean) => {
    for (const socket of sockets) if (!isSpared(socket)) socket.destroy()
  }
  const spare: Draining['spare'] = response => {
    const { socket } = response
    if (!socket) return
    streaming.add(socket)
    response.once('close', () => streaming.delete(socket))
  }

  return {
    spare,
    get withinMs() {
      return streaming.size > 0 ? allMs : requestDrainMs
    },
    watch(server) {
      server.on('connection', (socket: Socket) => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      })
      // WebSockets are closed by their own protocol.
      server.on('upgrade', ({ socket }: IncomingMessage) => sockets.delete(socket))
    },
    pass(events, response, farewell) {
      spare(response)
      const { passed, end } = wholeEvents(events, farewell, () => endings.delete(stop))
      const stop = () => end('stopping')
      endings.add(stop)
      if (isOver) stop()
      return passed
    },
    begin() {
      const timers = [
        setTimeout(() => cut(socket => streaming.has(socket)), requestDrainMs),
        setTimeout(() => {
          isOver = true
          for (const end of [...endings]) end()
        }, streamMs),
        setTimeout(() => cut(() => false), allMs),
      ]
      return () => timers.forEach(clearTimeout)
    },
  }
}

/**
 * Forwards events as they arrive, and never a part of one, because nothing could follow it.
 * @param over called once, when nothing more comes
 */
function wholeEvents(events: Readable, farewell: (why: EarlyEnd) => string, over: () => void): { passed: Readable; end(why: EarlyEnd): void } {
  let rest: Buffer | null = null
  let hasEnded = false
  /** Ends the stream. @returns false when it had ended before */
  const ends = (): boolean => {
    if (hasEnded) return false
    hasEnded = true
    over()
    return true
  }
  const end = (why: EarlyEnd) => {
    if (!ends()) return
    passed.push(farewell(why))
    passed.push(null)
    events.destroy()
  }
  const passed = new Readable({
    read: () => void events.resume(),
    destroy(error, done) {
      ends()
      events.destroy()
      done(error)
    },
  })
  events.on('data', (piece: Buffer) => {
    if (hasEnded) return
    const bytes: Buffer = rest ? Buffer.concat([rest, piece]) : piece
    const whole = bytes.lastIndexOf('\n\n') + 2
    rest = whole === bytes.length ? null : whole === 1 ? bytes : bytes.subarray(whole)
    if (whole > 1 && !passed.push(rest ? bytes.subarray(0, whole) : bytes)) events.pause()
  })
  events.once('end', () => {
    if (!ends()) return
    if (rest) passed.push(rest)
    passed.push(null)
  })
  events.once('error', () => end('broken'))
  // One that is destroyed without an error says no more than this.
  events.once('close', () => end('broken'))
  events.pause()
  return { passed, end }
}
