import type { QueryConfig } from 'pg'
import type { Logger } from 'pino'
import type { OpenPool } from '../platform/sql/pool.ts'
import { type Carrier, createCarrier } from './carrier.ts'

/** The notification channel of all processes on one database. */
const channel = 'supergraph_events'
/** Interval in ms of pings: the connection is otherwise quiet. Ten seconds of silence cut it. */
const pingMs = 5_000

/**
 * Creates the event transport over PostgreSQL: NOTIFY and LISTEN over a separate connection. Writing transactions never
 * notify themselves, because they would wait for the server's single notification queue and become four times as slow.
 * @param openPool provides the connection, of those of the process
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
      /** Statements of a connection run one after the other. */
      let last: Promise<unknown> = Promise.resolve()
      const run = (statement: string | QueryConfig) => {
        const query = () => client.query(statement)
        last = last.then(query, query)
        return last
      }
      const close = async () => {
        clearInterval(ping)
        client.release(true)
      }
      try {
        await run(`listen ${channel}`)
      } catch (error) {
        await close()
        throw error
      }
      ping = setInterval(() => run('select').catch(() => {}), pingMs).unref()
      return {
        ended,
        close,
        async send(texts) {
          await run({ name: 'events', text: `select pg_notify('${channel}', text) from unnest($1::text[]) text`, values: [[...texts]] })
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
