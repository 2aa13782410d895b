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
 * Starts a router for any supergraph: `/graphql` over HTTP and WebSocket, landing page and health. It has no
 * authentication, REST or database; subgraphs authenticate callers themselves, by headers that `PROPAGATE_HEADERS`
 * passes on.
 * @param file with the supergraph's SDL
 * @throws StartError when the file does not exist, or holds no supergraph
 */
export const startBare = (config: Config, file: string, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { log, stack, colleagues } = process
    let text = ''
    /** SDL of the graph that answers now. */
    let answering = ''
    /** Resources of the present engine, and of former ones while operations may still run on them. */
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
        // The replacement of a worker answers with the graph of the other workers, which ignore the file's present
        // content.
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
        // Work that began with the former graph ends with it, and so do streams that are the same on both.
        setTimeout(() => void engine.idle(former.engine).then(() => release(former.own)), config.remote.operationMs + waitingMs).unref()
        log.warn({ subgraphs: next.names }, `${file} reloaded: the new graph is in use`)
      } catch (error) {
        log.error(`${lineOf(error)}; the former graph stays in use`)
      }
    }
  })

/** Whether two texts define the same supergraph, apart from comments, white space and order of definitions. */
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

/** Maximum ms that an operation waits for its turn, and some more. */
const waitingMs = 30_000

/** The text of a file that is named on the command line. */
function textOf(config: Config, file: string): string {
  try {
    return readFileSync(resolve(config.calledFrom, file), 'utf8')
  } catch (error) {
    throw new StartError(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}): name a file with a supergraph's SDL`, error)
  }
}

/** Returns the addresses of a supergraph's subgraphs; `<NAME>_URL` takes precedence over the supergraph. */
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
