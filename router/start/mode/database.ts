import type { Config } from '../../../config.ts'
import { startPostgres } from '../../../db/embedded.ts'
import { untilAborted } from '../process/abort.ts'
import type { Running, Startup } from '../startup.ts'
import { begin } from '../wire.ts'

/** Maximum connections of the database server: distributed processes have up to thirty each. */
const mostConnections = 400

/**
 * Starts the embedded PostgreSQL for distributed mode in a process that keeps it running, and ends it. Only the parent
 * process receives the address, which contains the password.
 */
export const startDatabase = (config: Config, startup: Startup): Promise<Running> =>
  begin(config, startup, async ({ config, log, stack, signal, onAbandon }) => {
    const settings = { port: String(config.port), max_connections: String(mostConnections) }
    const postgres = await untilAborted(startPostgres({ folder: config.dataDir, log, signal, settings }), signal)
    onAbandon(postgres.killNow)
    stack.defer(() => postgres.stop())
    // PostgreSQL is a separate process, and this one has nothing else to wait for.
    const staying = setInterval(() => {}, 2 ** 30)
    stack.defer(() => clearInterval(staying))
    process.send?.({ databaseUrl: postgres.url })
    return { url: `postgres://127.0.0.1:${config.port}`, banner: [], facts: { recovered: postgres.recovered } }
  })
