import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { callbackUrl } from '../../subgraphs/publishing/integration/rules.ts'

/** The stand-ins that development speaks to. */
export interface OpenSandbox {
  readonly origin: string
  readonly x: { readonly clientId: string; readonly clientSecret: string; readonly authorizeUrl: string; readonly apiUrl: string }
  /** Says that it listens elsewhere than configured; null when it does not. */
  readonly moved: string | null
  stop(): Promise<void>
}

/**
 * Starts the sandbox within this process, or finds the one that runs as a process of its own.
 * @throws StartError when that one's facts are not in the configured folder
 */
export async function openSandbox({ dataDir, publicUrl, sandbox }: Config): Promise<OpenSandbox> {
  if (sandbox.folder) return toOpen(readFacts(sandbox.folder), null, async () => {})
  const options = { folder: join(dataDir, 'sandbox'), redirectUris: [callbackUrl(publicUrl, 'X')] }
  const started = await startSandbox({ ...options, port: sandbox.port }).catch(error => {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return startSandbox({ ...options, port: 0 })
    if (syscall === 'listen') throw new StartError(`SANDBOX_PORT: ${sandbox.port} cannot be listened on (${code}): name another port, or set DEMO=0`, error)
    throw new StartError(`the sandbox cannot go on with ${options.folder} (${lineOf(error)}): remove that, and its networks begin anew`, error)
  })
  const moved =
    sandbox.port === 0 || started.port === sandbox.port ? null : `port ${sandbox.port} is taken: the sandbox listens on ${started.port} (SANDBOX_PORT)`
  return toOpen({ origin: started.origin, x: started.demo.x }, moved, started.stop)
}

interface Facts {
  readonly origin: string
  readonly x: { readonly clientId: string; readonly clientSecret: string }
}

const toOpen = ({ origin, x }: Facts, moved: string | null, stop: () => Promise<void>): OpenSandbox => ({
  origin,
  moved,
  x: { clientId: x.clientId, clientSecret: x.clientSecret, authorizeUrl: `${origin}/x/i/oauth2/authorize`, apiUrl: `${origin}/x` },
  stop,
})

function readFacts(folder: string): Facts {
  try {
    return JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as Facts
  } catch (error) {
    throw new StartError(`SANDBOX_DIR: no sandbox runs on ${folder}: start one with node sandbox/main.ts --folder ${folder} --port 4100`, error)
  }
}
