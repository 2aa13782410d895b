import type { Config } from '../../config.ts'
import { systemClock } from '../../platform/clock.ts'
import { lineOf, StartError } from '../../start-error.ts'
import type { Engine, Transport } from '../engine/engine.ts'
import type { Supergraph } from '../engine/supergraph.ts'
import { createRemoteTransport, type RemoteSubgraph } from '../engine/transport/remote.ts'
import type { Seal } from '../engine/transport/seal.ts'
import { createHosts, hostsOf } from '../hosts.ts'
import { createRouter, type Router, type RouterOptions } from '../router.ts'
import { openEngineOver } from './engine.ts'
import type { Process } from './startup.ts'

/** What clients come in by, where it is not the same for every router. */
export type RouterParts = Pick<RouterOptions, 'engine' | 'authority' | 'subgraphs' | 'readiness' | 'extend' | 'drainMs' | 'sandbox' | 'services' | 'demo'>

/** Makes the doors of a router; they do not listen yet. */
export function openDoors({ config, log, metrics, tracing }: Process, parts: RouterParts): Promise<Router> {
  const { host, port, sharePort, publicUrl, environment, trustProxy, corsOrigins, metricsToken, streams } = config
  // Where nobody is known no service has an address of its own.
  const hosts = parts.authority ? hostsOf(config) : createHosts(publicUrl, [], { origins: corsOrigins, loopback: environment === 'development' })
  const { perAddress, perViewer, perCaller } = streams
  return createRouter({
    ...parts,
    sockets: { perAddress, perViewer },
    live: { perCaller },
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
}

/** Where subgraphs apart are: those of the configuration come before others. @throws StartError for a value that is no address */
export const remoteAt = (config: Config, name: string, url: readonly string[]): RemoteSubgraph => ({
  url,
  timeoutMs: config.subgraphTimeoutMs(name) ?? undefined,
})

/**
 * Opens the engine before subgraphs that run apart.
 * @param seal tells them who asks @default nothing does
 * @throws StartError when a header that is to be propagated cannot be
 */
export async function openRemoteEngine(
  { config, log, metrics, stack }: Process,
  supergraph: Supergraph,
  subgraphs: ReadonlyMap<string, RemoteSubgraph>,
  seal?: Seal,
): Promise<Engine> {
  const { propagate, deduplicate, fetchMs } = config.remote
  let transport: Transport & { close(): Promise<void> }
  try {
    transport = createRemoteTransport({ subgraphs, seal, headers: propagate.map(name => ({ name })), deduplicate, timeoutMs: fetchMs })
  } catch (error) {
    throw new StartError(/^the addresses of/.test(lineOf(error)) ? lineOf(error) : `PROPAGATE_HEADERS: ${lineOf(error)}`, error)
  }
  stack.defer(() => transport.close())
  return openEngineOver(supergraph, transport, config, { log, metrics })
}
