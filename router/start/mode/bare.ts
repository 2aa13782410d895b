import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../../config.ts'
import { lineOf, StartError } from '../../../start-error.ts'
import { readSupergraph } from '../../engine/supergraph.ts'
import { readAddresses } from '../../engine/transport/addresses.ts'
import type { RemoteSubgraph } from '../../engine/transport/remote.ts'
import { openRemoteEngine, remoteAt } from '../doors.ts'
import type { Running, Startup } from '../startup.ts'
import { begin, wire } from '../wire.ts'

/**
 * A router before the subgraphs of any supergraph: `/graphql` over HTTP and WebSocket, landing page and health. It knows nobody:
 * there is no sign-in, no REST and no database, and whoever is to be known is known by the subgraphs, to which
 * `PROPAGATE_HEADERS` lets headers pass.
 * @param file with the supergraph's SDL
 * @throws StartError when there is no such file, or no supergraph in it
 */
export const startBare = (config: Config, file: string, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { supergraphSdl, subgraphs } = readSupergraphFile(config, file)
    const engine = await openEngine().catch(error => {
      throw error instanceof StartError ? error : new StartError(`${file} holds no supergraph that can be served: ${lineOf(error)}`, error)
    })
    await wire(process, { door: () => ({ engine, authority: null, subgraphs: [], readiness: [] }) })
    const names = [...subgraphs.keys()]
    const banner = [`${names.length} subgraphs of ${file}: ${names.join(', ')}`]
    return { url: `${config.publicUrl}/graphql`, banner, facts: { supergraph: file, subgraphs: names } }

    async function openEngine() {
      return openRemoteEngine(process, readSupergraph(supergraphSdl), subgraphs)
    }
  })

/** Reads a supergraph and where its subgraphs are; `<NAME>_URL` comes before what is written there. */
function readSupergraphFile(config: Config, file: string): { supergraphSdl: string; subgraphs: Map<string, RemoteSubgraph> } {
  let supergraphSdl: string
  try {
    supergraphSdl = readFileSync(resolve(config.calledFrom, file), 'utf8')
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}): name a file with a supergraph's SDL`, error)
  }
  let addresses: Map<string, string>
  try {
    addresses = readAddresses(supergraphSdl)
  } catch (error) {
    throw new StartError(`${file} is no supergraph: ${lineOf(error)}`, error)
  }
  const subgraphs = new Map<string, RemoteSubgraph>()
  for (const [name, written] of addresses) {
    const urls = config.subgraphUrls(name) ?? [written]
    if (!urls.every(url => URL.canParse(url) && /^https?:/.test(url)))
      throw new StartError(`${file} gives the subgraph "${name}" no address that can be asked over HTTP: compose with routing urls, or set its _URL variable`)
    subgraphs.set(name, remoteAt(config, name, urls))
  }
  return { supergraphSdl, subgraphs }
}
