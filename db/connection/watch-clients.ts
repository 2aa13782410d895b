import type { Socket } from 'node:net'
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { doFor } from '../../platform/caller/cause.ts'

/**
 * Time in ms without an answer to a statement after which its connection is cut. The server ends statements itself
 * after 8 s, and reports so.
 */
const silence = 10_000
/**
 * Time in ms that a pool may take to end before its connections are cut: by then all work on them should have ended.
 */
const endMs = 500

/** Watched connections of one pool. */
export interface WatchedClients {
  /** Cuts the connection when the server does not answer a statement in time, and logs lost connections. */
  watch(client: pg.Client): void
  /** Ends the pool; cuts connections that have not ended half a second later, so that none outlives it. */
  endWith(end: () => Promise<void>): Promise<void>
}

/**
 * Watches the connections of a pool. A connection may die silently (a firewall that dropped it, a machine that failed):
 * TCP alone notices after a quarter of an hour, and the pool would reuse the connection until then.
 */
export function watchClients(log: Logger, silentMs = silence): WatchedClients {
  const present = new Set<pg.Client>()
  let [ending, ended] = [false, false]
  return {
    watch(client) {
      present.add(client)
      client.once('end', () => present.delete(client))
      client.on('error', error => ending || doFor(null, () => log.warn({ err: error }, 'database connection lost')))
      const socket = socketOf(client)
      // The connection was being opened when the pool ended.
      if (ended) return void socket.destroy()
      socket.setTimeout(silentMs).on('timeout', async () => {
        // The connection was idle all that time; new queries get their own time limit.
        if (isIdle(client)) return
        // After a pause of the process, timers fire before the data that arrived during the pause is read, so it is
        // read first.
        const read = socket.bytesRead
        await afterReading()
        if (socket.bytesRead > read || socket.destroyed) return
        socket.destroy(new Error(`the database has said nothing for ${silentMs / 1000} s`))
      })
    },
    async endWith(end) {
      ending = true
      const politely = new AbortController()
      await Promise.race([end().finally(() => politely.abort()), wait(endMs, undefined, { signal: politely.signal }).catch(() => {})])
      ended = true
      for (const client of present) socketOf(client).destroy()
    },
  }
}

/** Lets the event loop read its sockets once: it does so between timers and immediates, and between two immediates. */
async function afterReading(): Promise<void> {
  await immediate()
  await immediate()
}

// pg's types contain neither of the two.
const socketOf = (client: pg.Client): Socket => (client as unknown as { connection: { stream: Socket } }).connection.stream
const isIdle = (client: pg.Client): boolean => (client as unknown as { readyForQuery: boolean }).readyForQuery === true
