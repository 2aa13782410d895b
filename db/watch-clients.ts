import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from 'pino'

/** How long the server may say nothing to a statement, in ms: it ends statements itself after 8 s, and tells so. */
const silence = 10_000
/** How long a pool may take to end before its connections are cut, in ms. */
const endMs = 1_500

/** The connections of one pool, under watch. */
export interface WatchedClients {
  /** Cuts the connection once the server is silent although a statement waits for it, and tells of connections that were lost. */
  watch(client: pg.Client): void
  /** Ends the pool; connections that have not ended after 1.5 s are cut. */
  endWith(end: () => Promise<void>): Promise<void>
}

/**
 * Watches the connections of a pool. A connection may die without a word (a firewall that forgot it, a machine that is gone):
 * TCP alone notices after a quarter of an hour, and a pool would hand it out again and again.
 */
export function watchClients(log: Logger, silentMs = silence): WatchedClients {
  const present = new Set<pg.Client>()
  return {
    watch(client) {
      present.add(client)
      client.once('end', () => present.delete(client))
      client.on('error', error => log.warn({ err: error }, 'a database connection was lost'))
      const socket = socketOf(client)
      socket.setTimeout(silentMs).on('timeout', () => {
        if (!isIdle(client)) socket.destroy(new Error(`the database has said nothing for ${silentMs / 1000} s`))
      })
    },
    async endWith(end) {
      const overdue = new AbortController()
      const ending = end().finally(() => overdue.abort())
      ending.catch(() => {})
      await wait(endMs, undefined, { signal: overdue.signal }).catch(() => {})
      if (overdue.signal.aborted) return ending
      for (const client of present) socketOf(client).destroy()
    },
  }
}

// pg names neither in its types.
const socketOf = (client: pg.Client): Socket => (client as unknown as { connection: { stream: Socket } }).connection.stream
const isIdle = (client: pg.Client): boolean => (client as unknown as { readyForQuery: boolean }).readyForQuery === true
