import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { createAddressOf } from '../access/address.ts'
import type { Authenticate, Caller } from '../access/authenticate.ts'
import { createAccessFilter } from '../access/filter.ts'
import { createApp } from '../door/app.ts'
import { createDocuments } from '../door/documents.ts'
import { serveHealth } from '../door/health.ts'
import { serveGraphql } from '../door/http.ts'
import { graphqlPlace, serveFrontPage } from '../door/landing.ts'
import { prepareListening } from '../door/listening.ts'
import { createLog } from '../door/log.ts'
import { createSockets } from '../door/websocket.ts'
import { readSupergraph } from '../engine/supergraph.ts'
import { readAddresses } from '../engine/transport/addresses.ts'
import { createRemoteTransport, type RemoteSubgraph } from '../engine/transport/remote.ts'
import { createHosts } from '../hosts.ts'
import { createShares, eventShare, operationShare } from '../live/shares.ts'
import type { Streams } from '../live/streams.ts'
import { openEngine } from './engine.ts'
import { listenAt } from './listen.ts'
import type { Running, Startup } from './run.ts'

/**
 * A router before the subgraphs of any supergraph: `/graphql` over HTTP and WebSocket, landing page and health. It knows nobody:
 * there is no sign-in, no REST and no database, and whoever is to be known is known by the subgraphs, to which
 * `PROPAGATE_HEADERS` lets headers pass.
 * @param file with the supergraph's SDL
 * @throws StartError when there is no such file, or no supergraph in it
 */
export async function startBare(config: Config, file: string, { tell }: Pick<Startup, 'tell'>): Promise<Running> {
  const began = performance.now()
  const production = config.environment === 'production'
  const exposeErrors = config.environment === 'development'
  const log = createLog(config.logLevel)
  await using starting = new AsyncDisposableStack()
  const { supergraphSdl, subgraphs } = readSupergraphFile(config, file)
  const transport = createTransport()
  starting.defer(() => transport.close())
  const engine = await startEngine()

  const hosts = createHosts(config.publicUrl, [], { origins: config.corsOrigins, loopback: config.environment === 'development' })
  const documents = createDocuments(engine.schema, { introspection: !production })
  const app = await createApp({ publicUrl: config.publicUrl, hosts, trustProxy: config.trustProxy, exposeErrors, log })
  // It knows nobody, so whoever stands behind one proxy is one caller: there is no share to keep, only what runs at once.
  const shares = createShares({ ...operationShare, each: operationShare.all, waiting: 2000 })
  const addressOf = createAddressOf(config.trustProxy)
  const sockets = createSockets({
    engine,
    documents,
    authenticate: nobody,
    streams: unwatched,
    shares,
    events: createShares(eventShare),
    hosts,
    addressOf,
    hideSuggestions: production,
    exposeErrors,
    log,
  })
  const door = prepareListening(app, { host: config.host, port: config.port, sockets, closing() {} })
  starting.defer(() => door.close())
  serveHealth(app, [])
  serveFrontPage(app, [graphqlPlace(production), { name: 'Health', address: '/health/ready', what: 'whether it takes requests' }])
  await serveGraphql(app, { engine, documents, authenticate: nobody, shares, hosts, publicUrl: config.publicUrl, production, exposeErrors, log })
  await app.ready()
  await listenAt(door, config)

  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  const names = [...subgraphs.keys()]
  const banner = [`${names.length} subgraphs of ${file}: ${names.join(', ')}`]
  tell.ready({ seconds, url: `${config.publicUrl}/graphql`, banner, facts: { supergraph: file, subgraphs: names } })
  const stack = starting.move()
  return { stop: () => stack.disposeAsync() }

  function createTransport() {
    const { propagate, deduplicate, fetchMs } = config.remote
    try {
      return createRemoteTransport({ subgraphs, headers: propagate.map(name => ({ name })), deduplicate, timeoutMs: fetchMs })
    } catch (error) {
      throw new StartError(`PROPAGATE_HEADERS: ${lineOf(error)}`, error)
    }
  }

  async function startEngine() {
    try {
      const supergraph = readSupergraph(supergraphSdl)
      return await openEngine(config.engine, {
        supergraphSdl: supergraph,
        transport,
        // This router knows nobody: what asks for anything of its viewer stays closed.
        access: createAccessFilter(supergraph.access),
        log,
        operationTimeoutMs: config.remote.operationMs,
        answerBytes: config.remote.answerBytes,
        exposeInternalErrors: exposeErrors,
      })
    } catch (error) {
      throw new StartError(`${file} holds no supergraph that can be served: ${lineOf(error)}`, error)
    }
  }
}

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
    const url = config.subgraphUrl(name) ?? written
    if (!URL.canParse(url) || !/^https?:/.test(url))
      throw new StartError(`${file} gives the subgraph "${name}" no address that can be asked over HTTP: compose with routing urls, or set its _URL variable`)
    subgraphs.set(name, { url, timeoutMs: config.subgraphTimeoutMs(name) ?? undefined })
  }
  return { supergraphSdl, subgraphs }
}

const caller: Caller = { viewer: anonymous, credential: { kind: 'none', id: null, expiresAt: null } }
const nobody: Authenticate = Object.assign(async () => caller, { forget() {} })

/** Nothing of a caller who is not known can run out. */
const unwatched: Streams = { watch: () => () => {}, size: 0, stop() {} }
