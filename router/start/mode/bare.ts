import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse, print } from 'graphql'
import type { Config } from '../../../config.ts'
import { lineOf, StartError } from '../../../start-error.ts'
import { createChanging } from '../../engine/native/changing.ts'
import { readSupergraph } from '../../engine/supergraph.ts'
import { readAddresses } from '../../engine/transport/addresses.ts'
import type { RemoteSubgraph } from '../../engine/transport/remote.ts'
import { openRemoteEngine, remoteAt } from '../doors.ts'
import { followFile } from '../process/follow-file.ts'
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
    const { log, stack, colleagues } = process
    let text = ''
    /** What the graph was made of that answers. */
    let answering = ''
    /** What holds connections: the present engine, and former ones for as long as anything may still run there. */
    const open = new Set<AsyncDisposableStack>()
    stack.defer(async () => void (await Promise.all([...open].map(each => each.disposeAsync()))))
    let present = await openFirst()
    const { names } = present
    const engine = createChanging(present.engine)
    await wire(process, { door: () => ({ engine, authority: null, subgraphs: [], readiness: [] }) })
    let reloading = Promise.resolve()
    const followed = followFile(resolve(config.calledFrom, file), text, changed => {
      reloading = reloading.then(() => reload(changed))
    })
    stack.defer(followed.stop)
    const banner = [`${names.length} subgraphs of ${file}: ${names.join(', ')}`]
    return { url: `${config.publicUrl}/graphql`, banner, facts: { supergraph: file, subgraphs: names }, reload: followed.look }

    async function openFirst() {
      try {
        text = textOf(config, file)
        const opened = await openEngine(text)
        answering = text
        colleagues?.answersBy(text)
        return opened
      } catch (error) {
        // Who takes the place of a worker that ended answers as the others do, which left aside what the file holds by now.
        const theirs = await colleagues?.graph
        if (!theirs || theirs === text) throw error
        log.error(`${lineOf(error)}; the other workers' graph stays in use`)
        answering = theirs
        return openEngine(theirs)
      }
    }

    async function openEngine(supergraphSdl: string) {
      const subgraphs = addressesIn(config, file, supergraphSdl)
      const own = new AsyncDisposableStack()
      open.add(own)
      try {
        return { engine: await openRemoteEngine({ ...process, stack: own }, readSupergraph(supergraphSdl), subgraphs), names: [...subgraphs.keys()], own }
      } catch (error) {
        await release(own)
        throw error instanceof StartError ? error : new StartError(`${file} holds no supergraph that can be served: ${lineOf(error)}`, error)
      }
    }

    async function release(own: AsyncDisposableStack) {
      open.delete(own)
      await own.disposeAsync()
    }

    async function reload(changed: string) {
      try {
        if (isSameGraph(answering, changed)) {
          colleagues?.answersBy(changed)
          log.warn(`${file} reloaded: the graph is unchanged and streams continue`)
          return
        }
        const [former, next] = [present, await openEngine(changed)]
        await engine.change(next.engine)
        present = next
        answering = changed
        colleagues?.answersBy(changed)
        // Work that began with the former graph ends with it.
        setTimeout(() => void release(former.own), config.remote.operationMs + waitingMs).unref()
        log.warn({ subgraphs: next.names }, `${file} reloaded: the new graph is in use`)
      } catch (error) {
        log.error(`${lineOf(error)}; the former graph stays in use`)
      }
    }
  })

/** Whether two texts of a supergraph say the same, whatever their comments, spaces and order of definitions. */
function isSameGraph(one: string, other: string): boolean {
  const meaning = (sdl: string) =>
    parse(sdl, { noLocation: true })
      .definitions.map(definition => print(definition))
      .toSorted()
      .join('\n')
  try {
    return meaning(one) === meaning(other)
  } catch {
    // An unreadable supergraph is refused when it is opened.
    return false
  }
}

/** How long an operation that was read may wait for its turn, in ms, and some more. */
const waitingMs = 30_000

/** The text of a file that is named on the command line. */
function textOf(config: Config, file: string): string {
  try {
    return readFileSync(resolve(config.calledFrom, file), 'utf8')
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}): name a file with a supergraph's SDL`, error)
  }
}

/** Where the subgraphs of a supergraph are; `<NAME>_URL` comes before what is written there. */
function addressesIn(config: Config, file: string, supergraphSdl: string): Map<string, RemoteSubgraph> {
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
  return subgraphs
}
