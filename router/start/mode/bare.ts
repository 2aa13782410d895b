import { parse, print } from 'graphql'
import type { Config } from '../../../config.ts'
import { lineOf, StartError } from '../../../start-error.ts'
import { callbacksPath, serveCallbacks } from '../../door/streaming/callbacks.ts'
import { createChanging } from '../../engine/native/changing.ts'
import { readSupergraph } from '../../engine/supergraph.ts'
import { readAddresses } from '../../engine/transport/addresses.ts'
import type { RemoteSubgraph } from '../../engine/transport/remote.ts'
import { createCallbacks } from '../../engine/transport/streams/callback.ts'
import { openRemoteEngine, remoteAt } from '../doors.ts'
import { openResponseCache } from '../process/cache/response-cache.ts'
import { callbacksOfAll, idOfWorker } from '../process/shared/callbacks.ts'
import type { Running, Startup } from '../startup.ts'
import { begin, wire } from '../wire.ts'
import { openSource } from './source/open.ts'

/**
 * Starts a router for any supergraph: `/graphql` over HTTP and WebSocket, landing page and health. It has no
 * authentication, REST or database; subgraphs authenticate callers themselves, by headers that `PROPAGATE_HEADERS`
 * passes on.
 * @param named where the supergraph's SDL is: a file, addresses, `s3://bucket/key`, or `uplink`
 * @throws StartError when it cannot be read, or holds no supergraph
 */
export const startBare = (config: Config, named: string, startup: Startup): Promise<Running> =>
  begin(config, startup, async process => {
    const { log, stack, colleagues } = process
    const { callbackUrl, heartbeatMs } = config.remote
    const newId = colleagues ? () => idOfWorker(colleagues.worker) : undefined
    const callbacks = createCallbacks({ url: callbackUrl ?? `${config.publicUrl}${callbacksPath}`, heartbeatMs, newId })
    colleagues?.callbacks.answer(callbacks)
    const called = colleagues ? callbacksOfAll(callbacks, colleagues.worker, colleagues.callbacks.ask) : callbacks
    const source = openSource(process, named)
    const { name } = source
    /** SDL of the graph that answers now. */
    let answering = ''
    /** Resources of the present engine, and of former ones while operations may still run on them. */
    const open = new Set<AsyncDisposableStack>()
    stack.defer(async () => void (await Promise.all([...open].map(each => each.disposeAsync()))))
    openResponseCache(config.responseCache, process)
    let present = await openFirst()
    const { names } = present
    const engine = createChanging(present.engine)
    await wire(process, {
      door: () => ({ engine, extend: app => serveCallbacks(app, called, config.remote.answerBytes), authority: null, subgraphs: [], readiness: [] }),
    })
    let reloading = Promise.resolve(true)
    const following = source.follow(changed => {
      reloading = reloading.then(() => reload(changed))
      return reloading
    })
    stack.defer(following.stop)
    const banner = [`${names.length} subgraphs of ${name}: ${names.join(', ')}`]
    return { url: `${config.publicUrl}/graphql`, banner, facts: { supergraph: name, subgraphs: names }, reload: following.look }

    async function openFirst() {
      let text: string | null = null
      try {
        text = await source.read()
        return await begun(text)
      } catch (error) {
        // The replacement of a worker answers with the graph of the other workers, which ignore what the source has
        // now; a router alone with the last graph that was in use.
        const theirs = await colleagues?.graph
        if (theirs && theirs !== text) {
          log.error(`${lineOf(error)}; the other workers' graph stays in use`)
          answering = theirs
          return openEngine(theirs)
        }
        const kept = source.kept()
        if (!kept || kept.sdl === text) throw error
        log.error(`${lineOf(error)}; starts with the supergraph of ${kept.at}, which was kept`)
        return begun(kept.sdl)
      }
    }

    /** Opens the first engine; its graph is the one in use. */
    async function begun(supergraphSdl: string) {
      const opened = await openEngine(supergraphSdl)
      answering = supergraphSdl
      source.keep(supergraphSdl)
      colleagues?.answersBy(supergraphSdl)
      return opened
    }

    async function openEngine(supergraphSdl: string) {
      const subgraphs = addressesIn(config, name, supergraphSdl)
      const own = new AsyncDisposableStack()
      open.add(own)
      try {
        return {
          engine: await openRemoteEngine({ ...process, stack: own }, readSupergraph(supergraphSdl), subgraphs, { callbacks }),
          names: [...subgraphs.keys()],
          own,
        }
      } catch (error) {
        await release(own)
        throw error instanceof StartError ? error : new StartError(`${name} holds no supergraph that can be served: ${lineOf(error)}`, error)
      }
    }

    async function release(own: AsyncDisposableStack) {
      open.delete(own)
      await own.disposeAsync()
    }

    /** @returns whether the graph is in use now */
    async function reload(changed: string): Promise<boolean> {
      try {
        if (isSameGraph(answering, changed)) {
          source.keep(changed)
          colleagues?.answersBy(changed)
          log.warn(`${name} reloaded: the graph is unchanged and streams continue`)
          return true
        }
        const [former, next] = [present, await openEngine(changed)]
        await engine.change(next.engine)
        present = next
        answering = changed
        source.keep(changed)
        colleagues?.answersBy(changed)
        // Work that began with the former graph ends with it, and so do streams that are the same on both.
        setTimeout(() => void engine.idle(former.engine).then(() => release(former.own)), config.remote.operationMs + waitingMs).unref()
        log.warn({ subgraphs: next.names }, `${name} reloaded: the new graph is in use`)
        return true
      } catch (error) {
        log.error(`${lineOf(error)}; the former graph stays in use`)
        return false
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

/** Returns the addresses of a supergraph's subgraphs; `<NAME>_URL` takes precedence over the supergraph. */
function addressesIn(config: Config, source: string, supergraphSdl: string): Map<string, RemoteSubgraph> {
  let addresses: Map<string, string>
  try {
    addresses = readAddresses(supergraphSdl)
  } catch (error) {
    throw new StartError(`${source} is no supergraph: ${lineOf(error)}`, error)
  }
  const subgraphs = new Map<string, RemoteSubgraph>()
  for (const [name, written] of addresses) {
    const urls = config.subgraphUrls(name) ?? [written]
    if (!urls.every(url => URL.canParse(url) && /^https?:/.test(url)))
      throw new StartError(`${source} gives the subgraph "${name}" no address that can be asked over HTTP: compose with routing urls, or set its _URL variable`)
    const subscriptions = config.subgraphSubscriptions(name)
    subgraphs.set(name, { ...remoteAt(config, name, urls), subscriptions })
  }
  return subgraphs
}
