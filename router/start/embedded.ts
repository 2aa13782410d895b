import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { startPostgres } from '../../db/embedded.ts'
import { lockFolder } from '../../db/lock.ts'
import type { Assembled } from './assemble.ts'
import { openKeys } from './keys.ts'
import { untilAborted } from './process/abort.ts'
import { noticesOf } from './process/notices.ts'
import type { Running, Startup } from './run.ts'

/**
 * Embedded mode: PostgreSQL, migrations, demo data, sandbox, every subgraph and the router in this one process.
 * Whatever was started is stopped again when a later step fails.
 * An abort is obeyed between two steps: what was started until then is stopped.
 */
export async function startEmbedded(config: Config, { signal, tell, onAbandon }: Startup): Promise<Running> {
  const began = performance.now()
  // The rest of the program loads while PostgreSQL comes up: together they are most of a start.
  const assembling = import('./assemble.ts')
  assembling.catch(() => {})
  const stack = new AsyncDisposableStack()
  try {
    const { createLog } = await import('../door/log.ts')
    const log = createLog(config.logLevel)
    const lock = await lockFolder(config.dataDir)
    stack.defer(() => lock.release())
    const keys = openKeys(config)
    const database = await openDatabase()
    signal.throwIfAborted()
    const { assemble } = await assembling
    const platform = await assemble({ config, keys, databaseUrl: database.url, log, stack, signal })
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    const { url, demo, setup } = platform
    const notices = [...noticesOf(config), ...platform.notices]
    for (const notice of config.environment === 'development' ? [] : notices) tell.warn(notice)
    if (setup && config.environment !== 'development') tell.say(`nobody has signed in yet: make the first account here, within a day: ${setup}`)
    tell.ready({
      seconds,
      url,
      banner: welcome({ ...platform, notices, database: database.told }),
      facts: { version: version(), database: database.told, demo: demo !== null, ...(demo && { sandbox: demo.sandbox }) },
    })
    return { stop: () => stack.disposeAsync() }

    async function openDatabase(): Promise<{ url: string; told: string }> {
      if (config.databaseUrl) {
        const { checkConnection } = await import('../../db/connect.ts')
        const version = await untilAborted(checkConnection(config.databaseUrl), signal)
        return { url: config.databaseUrl, told: `PostgreSQL ${version} at DATABASE_URL` }
      }
      const postgres = await startPostgres({ folder: config.dataDir, log, signal })
      onAbandon(postgres.killNow)
      stack.defer(() => postgres.stop())
      const told = {
        fresh: 'made now',
        warm: 'as it was left',
        adopted: 'still running after its platform was killed: taken over',
        'after a crash': 'was killed: recovered',
      }
      return { url: postgres.url, told: `embedded PostgreSQL in ${config.dataDir}, ${told[postgres.recovered]}` }
    }
  } catch (error) {
    await stack.disposeAsync()
    throw error
  }
}

interface Welcome extends Omit<Assembled, 'notices'> {
  readonly database: string
  /** What is otherwise than one would expect, a sentence each. */
  readonly notices: readonly string[]
}

const version = (): string => (JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string }).version

/** What a start prints before it says that it is ready: where to go, as whom, and what is otherwise than usual. */
function welcome({ url, database, demo, setup, notices }: Welcome): readonly string[] {
  const lines = [
    `supergraph ${version()}`,
    '',
    `  GraphQL and Apollo Sandbox   ${url}/graphql`,
    `  REST                         ${url}/publishing/api/posts`,
    `  Health                       ${url}/health/ready`,
    `  Database                     ${database}`,
  ]
  if (demo)
    lines.push(
      `  Sandbox (plays X)            ${demo.sandbox}`,
      '',
      `  Demo accounts, password ${demo.password}`,
      ...demo.accounts.map(account => `    ${account}`),
    )
  if (setup) lines.push('', '  Nobody has signed in yet. Make the first account here, within a day:', `    ${setup}`)
  if (notices.length > 0) lines.push('', ...notices.map(notice => `  ${notice}`))
  return [...lines, '']
}
