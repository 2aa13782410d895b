import { join } from 'node:path'
import { isServiceToken } from '../../../config/services.ts'
import type { Config } from '../../../config.ts'
import { callbackUrl } from '../../../subgraphs/publishing/connection/integration/rules.ts'
import { endpointUrls, playedPlatforms, reportsUrl } from '../sandbox.ts'
import type { Part } from './keep.ts'
import { portFor } from './ports.ts'

const program = join(import.meta.dirname, '../../main.ts')
const sandboxProgram = join(import.meta.dirname, '../../../sandbox/main.ts')
/** The line by which a process of ours says that it is ready. */
export const readyLine = /\bready in [\d.]+ s\b/

/** Returns the environment of every process of ours, without variables for this one only. */
export function common({ dataDir, publicUrl, environmentVariables }: Config): NodeJS.ProcessEnv {
  const {
    npm_lifecycle_event: _npm,
    SEAL_PRIVATE_KEY: _seal,
    AUTH_SECRET: _auth,
    ENCRYPTION_KEYS: _keys,
    DATABASE_URL: _database,
    // Routers of the platform answer by its own supergraph.
    SUPERGRAPH: _supergraph,
    ...rest
  } = environmentVariables
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'APP_SERVICE_TOKENS' && !isServiceToken(name)))
  return { ...others, DATA_DIR: dataDir, PUBLIC_URL: publicUrl, KEPT_BY: `start:apart ${process.pid}` }
}

/**
 * Node options of `npm run start:router` and `start:subgraph`: objects of an answer live as long as the answer, so the
 * young generation is large enough to keep them.
 */
const optionsOf: Readonly<Record<string, readonly string[]>> = {
  router: ['--max-semi-space-size=64', '--min-semi-space-size=64'],
  subgraph: ['--max-semi-space-size=64'],
}

/** Returns how a process of ours is started. @param words its arguments */
export const ourProgram = (words: readonly string[], environment: NodeJS.ProcessEnv) => ({
  command: process.execPath,
  parameters: [...process.execArgv, ...(optionsOf[words[0] ?? ''] ?? []), program, ...words],
  environment,
})

/** Returns the process of the sandbox, and the folder where others find it. @param taken ports, to which its own are added */
export async function sandboxPart(config: Config, taken: Set<number>): Promise<{ readonly part: Part; readonly folder: string }> {
  const { dataDir, publicUrl } = config
  const folder = join(dataDir, 'sandbox')
  const own = String(await portFor(config.sandbox.port, taken))
  const mails = String(await portFor(config.sandbox.smtpPort, taken))
  const names = String(await portFor(config.sandbox.dnsPort, taken))
  const redirects = playedPlatforms(config.environment === 'staging').flatMap(platform => ['--redirect-uri', callbackUrl(publicUrl, platform)])
  const parameters = [
    ...process.execArgv,
    sandboxProgram,
    '--folder',
    folder,
    '--port',
    own,
    '--smtp-port',
    mails,
    '--dns-port',
    names,
    '--mail-reports',
    reportsUrl(publicUrl),
    ...Object.entries(endpointUrls(publicUrl)).flatMap(([name, url]) => ['--endpoint', `${name}=${url}`]),
    '--with-parent',
    String(process.pid),
    ...redirects,
  ]
  const part = { name: 'sandbox', command: process.execPath, parameters, environment: common(config), ready: /^http:\S+$/ }
  return { part, folder }
}
