import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { systemClock } from '../../platform/clock.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { lineOf, StartError } from '../../start-error.ts'
import { addressesFrom } from '../../subgraphs/providers/engines/third-party/addresses.ts'
import { type Manifest, readManifest } from '../door/documents/manifest.ts'
import { createRegistered, shareRegistered } from '../door/documents/registered.ts'
import { serveInvalidation } from '../door/http/invalidation.ts'
import type { Engine, Transport } from '../engine/engine.ts'
import type { Supergraph } from '../engine/supergraph.ts'
import { createRemoteTransport, type RemoteSubgraph } from '../engine/transport/remote.ts'
import type { Seal } from '../engine/transport/seal.ts'
import type { Callbacks } from '../engine/transport/streams/callback.ts'
import { createHosts, hostsOf } from '../hosts.ts'
import { openUsageExport } from '../metrics/usage/export/export.ts'
import type { UsageStore } from '../metrics/usage/store.ts'
import { openUsage } from '../metrics/usage/usage.ts'
import { createRouter, type Router, type RouterOptions } from '../router.ts'
import { bytesInFlight, openEngineOver } from './engine.ts'
import { invalidate, responseCacheOf } from './process/cache/response-cache.ts'
import { exportersOf } from './process/exporters.ts'
import { followFile } from './process/follow-file.ts'
import type { Process } from './startup.ts'

/** The parts of a router that differ between modes. */
export type RouterParts = Pick<
  RouterOptions,
  'engine' | 'authority' | 'draining' | 'severalRouters' | 'callers' | 'subgraphs' | 'readiness' | 'extend' | 'drainMs' | 'sandbox' | 'services' | 'demo'
> & {
  /** Where use of the schema is stored. @default it is not recorded */
  readonly usageStore?: UsageStore | undefined
}

/**
 * Creates a router that does not listen yet.
 * @throws StartError when the trusted documents cannot be read, or USAGE needs a database
 */
export async function openDoors({ config, log, metrics, tracing, colleagues, stack }: Process, { usageStore, ...parts }: RouterParts): Promise<Router> {
  const { host, port, sharePort, publicUrl, environment, trustProxy, corsOrigins, metricsToken, streams } = config
  // Without authentication no service has a host of its own.
  const hosts = parts.authority ? hostsOf(config) : createHosts(publicUrl, [], { origins: corsOrigins, loopback: environment === 'development' })
  const { perAddress, perViewer, messages, perCaller, unansweredMs } = streams
  const { trust, file } = config.documents
  const { recording, flushMs, days } = config.usage
  if (recording === 'on' && !usageStore)
    throw new StartError('USAGE: on needs a database: name it with DATABASE_URL, or leave USAGE out; a router of another supergraph has none')
  const text = file === null ? null : textOf(file)
  const foreign = config.foreignIssuer && { ...config.foreignIssuer, outbound: createOutbound([new URL(config.foreignIssuer.jwksUrl).origin]) }
  if (foreign) stack.defer(() => foreign.outbound.close())
  const studioUrl = addressesFrom(config.providerAddresses, parts.sandbox ?? null).studio
  const studio = studioUrl === null ? undefined : { url: studioUrl, outbound: createOutbound([new URL(studioUrl).origin]) }
  if (studio) stack.defer(() => studio.outbound.close())
  const usage = usageStore && recording !== 'off' ? openUsage({ store: usageStore, flushMs, days, log, metrics }, stack) : undefined
  const exported = openUsageExport({ ...exportersOf(config), log, metrics }, stack)
  if (config.responseCache.store !== 'off') refuseCacheOf(config)
  const cache = responseCacheOf(metrics)
  // Workers with a shared store hear of drops from that, and those of the platform by events.
  if (cache && config.responseCache.store === 'memory' && !parts.authority) colleagues?.share(cache)
  const { invalidationToken } = config.responseCache
  const router = await createRouter({
    ...parts,
    extend(app) {
      parts.extend?.(app)
      if (invalidationToken) serveInvalidation(app, invalidationToken, invalidations => invalidate(cache, invalidations))
    },
    usage,
    exported,
    foreign: foreign ?? undefined,
    studio,
    chatOrigins: config.publicChat.origins,
    developersWebUrl: config.marketing.developersWebUrl,
    readiness: colleagues ? [...parts.readiness, colleagues.readiness] : parts.readiness,
    figures: colleagues?.figures,
    registered: colleagues ? shareRegistered(createRegistered(), colleagues.documents) : undefined,
    inFlight: bytesInFlight(metrics, config.remote),
    rates: config.rates,
    defer: { directives: config.remote.incrementalDirectives, depth: config.remote.deferDepth },
    trust,
    manifest: text === null ? null : trustedIn(file!, text),
    sockets: { perAddress, perViewer, messages },
    live: { perCaller },
    unansweredMs,
    host,
    port,
    sharePort,
    publicUrl,
    environment,
    trustProxy,
    metricsToken,
    hosts,
    clock: systemClock,
    log,
    metrics,
    tracing,
  })
  if (text !== null)
    stack.defer(
      followFile(file!, text, changed => {
        try {
          router.trust(trustedIn(file!, changed))
          log.info({ file }, 'trusted documents reloaded')
        } catch (error) {
          log.error(`${lineOf(error)}; the former trusted documents stay in use`)
        }
      }).stop,
    )
  return router
}

/** @throws StartError where a router cannot keep answers */
function refuseCacheOf({ engine }: Config): void {
  if (engine !== 'native') throw new StartError(`RESPONSE_CACHE: a cache needs ROUTER_ENGINE=native, for ${engine} keeps no answers: leave one of them out`)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`TRUSTED_DOCUMENTS_FILE: ${file} cannot be read: ${lineOf(error)}`, error)
  }
}

function trustedIn(file: string, text: string): Manifest {
  try {
    return readManifest(text)
  } catch (error) {
    throw new StartError(`TRUSTED_DOCUMENTS_FILE: ${file} cannot be read: ${lineOf(error)}`, error)
  }
}

/**
 * Returns the addresses of a distributed subgraph; configured ones take precedence. @throws StartError for a value that
 * is not an address
 */
export const remoteAt = (config: Config, name: string, url: readonly string[]): RemoteSubgraph => ({
  url,
  timeoutMs: config.subgraphTimeoutMs(name) ?? undefined,
})

/**
 * Opens the engine for subgraphs in other processes.
 * @param seal signs the viewer for subgraphs @default no viewer is sent
 * @param callbacks takes the events of subgraphs that send them by requests @default none do
 * @throws StartError for a configured header that must not be propagated
 */
export async function openRemoteEngine(
  { config, log, metrics, stack }: Process,
  supergraph: Supergraph,
  subgraphs: ReadonlyMap<string, RemoteSubgraph>,
  { seal, callbacks }: { readonly seal?: Seal | undefined; readonly callbacks?: Callbacks | undefined } = {},
): Promise<Engine> {
  const { propagate, deduplicate, fetchMs } = config.remote
  let transport: Transport & { close(): Promise<void> }
  try {
    transport = createRemoteTransport({ subgraphs, seal, callbacks, headers: propagate.map(name => ({ name })), deduplicate, timeoutMs: fetchMs })
  } catch (error) {
    throw new StartError(/^the addresses of/.test(lineOf(error)) ? lineOf(error) : `PROPAGATE_HEADERS: ${lineOf(error)}`, error)
  }
  stack.defer(() => transport.close())
  return openEngineOver(supergraph, transport, config, { log, metrics }, stack)
}
