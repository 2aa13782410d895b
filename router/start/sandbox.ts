import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { applicationAt, type Demos, type TwinName, twins } from '../../sandbox/networks.ts'
import { startSandbox } from '../../sandbox/server.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { callbackUrl } from '../../subgraphs/publishing/integration/rules.ts'
import { type Applications, everyNetwork, platforms } from '../../subgraphs/publishing/network/networks.ts'

/** The stand-ins that development speaks to. */
export interface OpenSandbox {
  readonly origin: string
  /** Our demo applications at the networks that it plays. */
  readonly applications: Applications
  /** Says that it listens elsewhere than configured; null when it does not. */
  readonly moved: string | null
  stop(): Promise<void>
}

/**
 * Starts the sandbox within this process, or finds the one that runs as a process of its own.
 * @throws StartError when that one's facts are not in the configured folder
 */
export async function openSandbox({ dataDir, publicUrl, sandbox }: Config): Promise<OpenSandbox> {
  if (sandbox.folder) return findSandbox(sandbox.folder)
  const options = { folder: join(dataDir, 'sandbox'), redirectUris: playedPlatforms.map(platform => callbackUrl(publicUrl, platform)) }
  const started = await startSandbox({ ...options, port: sandbox.port }).catch(error => {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') return startSandbox({ ...options, port: 0 })
    if (syscall === 'listen') throw new StartError(`SANDBOX_PORT: ${sandbox.port} cannot be listened on (${code}): name another port, or set DEMO=0`, error)
    throw new StartError(`the sandbox cannot go on with ${options.folder} (${lineOf(error)}): remove that, and its networks begin anew`, error)
  })
  const moved =
    sandbox.port === 0 || started.port === sandbox.port ? null : `port ${sandbox.port} is taken: the sandbox listens on ${started.port} (SANDBOX_PORT)`
  return toOpen({ origin: started.origin, ...started.demo }, moved, started.stop)
}

/** The sandbox that runs as a process of its own. @throws StartError when its facts are not in the folder */
export const findSandbox = (folder: string): OpenSandbox => toOpen(readFacts(folder), null, async () => {})

type Facts = { readonly origin: string } & { readonly [Name in TwinName]: Pick<Demos[Name], 'clientId' | 'clientSecret'> }

const isTwin = (name: string): name is TwinName => Object.hasOwn(twins, name)

/** The networks whose twins are played: those go by the path of their network. */
export const playedPlatforms = platforms.filter(platform => isTwin(everyNetwork[platform].path))

const toOpen = ({ origin, ...demos }: Facts, moved: string | null, stop: () => Promise<void>): OpenSandbox => ({
  origin,
  moved,
  applications: Object.fromEntries(
    playedPlatforms.map(platform => {
      const name = everyNetwork[platform].path as TwinName
      return [platform, applicationAt(origin, name, demos[name])]
    }),
  ),
  stop,
})

function readFacts(folder: string): Facts {
  try {
    return JSON.parse(readFileSync(join(folder, 'demo.json'), 'utf8')) as Facts
  } catch (error) {
    throw new StartError(`SANDBOX_DIR: no sandbox runs on ${folder}: start one with node sandbox/main.ts --folder ${folder} --port 4100`, error)
  }
}
