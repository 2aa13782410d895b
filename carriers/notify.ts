import type { Logger } from 'pino'
import type { OpenPool } from '../platform/sql/pool.ts'
import { type Carrier, createCarrier } from './carrier.ts'

/** The one channel of all processes on one database. */
const channel = 'supergraph_events'
/** How often the connection is asked whether it still is one, in ms: nothing else is said on a quiet one. Ten seconds of silence cut it. */
const pingMs = 5_000

/**
 * PostgreSQL as the carrier: NOTIFY and LISTEN over one connection of this process's own. So no transaction that writes ever notifies:
 * it would wait for the server's one queue of notifications, and be four times as slow.
 * @param openPool hands out that connection, of those that the process may have
 */
export function createNotifyCarrier({ openPool, log }: { readonly openPool: OpenPool; readonly log: Logger }): Carrier {
  const pool = openPool({ use: 'events', name: 'events' })
  const carrier = createCarrier({
    name: 'PostgreSQL',
    log,
    async open(heard) {
      const client = await pool.connect()
      const ended = new Promise<void>(resolve => client.once('error', () => resolve()).once('end', () => resolve()))
      client.on('notification', ({ payload }) => payload !== undefined && heard(payload))
      let ping: NodeJS.Timeout | undefined
      const close = async () => {
        clearInterval(ping)
        client.release(true)
      }
      try {
        await client.query(`listen ${channel}`)
      } catch (error) {
        await close()
        throw error
      }
      ping = setInterval(() => client.query('select').catch(() => {}), pingMs).unref()
      return {
        ended,
        close,
        async send(texts) {
          await client.query({ name: 'events', text: `select pg_notify('${channel}', text) from unnest($1::text[]) text`, values: [texts] })
        },
      }
    },
  })
  return {
    ...carrier,
    async stop() {
      await carrier.stop()
      await pool.end()
    },
  }
}
