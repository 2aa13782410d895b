import type { Socket } from 'node:net'
import { setImmediate as immediate, setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'
import { doFor } from '../../platform/caller/cause.ts'

/** How long the server may say nothing to a statement, in ms: it ends statements itself after 8 s, and tells so. */
const silence = 10_000
/** How long a pool may take to end before its connections are cut, in ms: by then nobody should need them any more. */
const endMs = 500

/** The connections of one pool, under watch. */
export interface WatchedClients {
  /** Cuts the connection once the server is silent although a statement waits for it, and tells of connections that were lost. */
  watch(client: pg.Client): void
  /** Ends the pool; connections that have not ended half a second later are cut, so that none outlives it. */
  endWith(end: () => Promise<void>): Promise<void>
}

/**
 * Watches the connections of a pool. A connection may die without a word (a firewall that forgot it, a machine that is gone):
 * TCP alone notices after a quarter of an hour, and a pool would hand it out again and again.
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
        // After a pause of the process its timers fire before it reads what arrived meanwhile, so reading comes first.
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

/** Lets the event loop read its sockets once: it does so between timers and immediates, and between one immediate and the next. */
async function afterReading(): Promise<void> {
  await immediate()
  await immediate()
}

// pg's types contain neither of the two.
const socketOf = (client: pg.Client): Socket => (client as unknown as { connection: { stream: Socket } }).connection.stream
const isIdle = (client: pg.Client): boolean => (client as unknown as { readyForQuery: boolean }).readyForQuery === true
