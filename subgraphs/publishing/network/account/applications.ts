import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { CallWhole } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import type { Adapter, Application, Gateway, Network, Networks, Platform } from '../network.ts'
import { type Applications, everyNetwork, type NetworkPlaces } from '../networks.ts'
import { readJson } from '../wire/json.ts'

/** Our application at a network, with the network's adapter. */
export interface SetUp {
  readonly application: Application
  readonly network: Network
}

/** No application: none exists, or the gateway cannot be reached at the moment. */
export interface NotSetUp {
  readonly application: null
  readonly network: null
  /** False when the gateway that stores applications could not be reached. */
  readonly isKnown: boolean
}

export type Found = SetUp | NotSetUp

/** Our applications at networks, and network adapters for granted access, which need no application. */
export interface OpenApplications {
  /**
   * All networks whose address is known; the map object never changes. To obtain, renew and sign access, use the
   * network that `find` returns.
   */
  readonly networks: Networks
  /**
   * Returns the application in this process's configuration, which every organization uses; null when there is none.
   */
  of(platform: Platform): Application | null
  /**
   * Returns the application with which accounts of an organization are connected: the configured one, else the
   * organization's or the platform's from the gateway to providers, cached for at most a minute. Never rejects.
   */
  find(platform: Platform, organizationId: string): Promise<Found>
}

export interface ApplicationsOptions {
  /** Id with which publishing calls the gateway: `app_publishing`. */
  readonly appId: string
  readonly adapters: ReadonlyMap<Platform, Adapter>
  readonly configured: Applications
  /** Addresses of networks, for applications that the gateway stores. */
  readonly whereabouts: NetworkPlaces
  /** Calls the gateway; null when there is no gateway, so that networks reached through it are not set up. */
  readonly call: CallWhole | null
  readonly clock: Clock
  readonly log: Logger
  readonly outbound: WayOut
}

/** How long an answer of the gateway is cached, in ms. */
const heardForMs = 60_000
/** Delay in ms before the next request to an unavailable gateway. */
const askAgainMs = 5_000
/** Timeout of a call to the gateway in ms: a person waits for the answer. */
const timeoutMs = 5_000
/** Maximum number of cached answers, each for one organization and network. */
const mostRemembered = 1_000

/** Placeholder credentials for adapters that are used without an application. */
const nobodys = { clientId: 'none', clientSecret: 'none' } as const

const none: NotSetUp = { application: null, network: null, isKnown: true }
const unknown: NotSetUp = { application: null, network: null, isKnown: false }

/** Opens the networks for which an application may exist. */
export function openApplications({ appId, adapters, configured, whereabouts, call, clock, log, outbound }: ApplicationsOptions): OpenApplications {
  const networks = new Map<Platform, Network>()
  const own = new Map<Platform, SetUp>()
  const gateway: Gateway | null = call && ((path, organizationId, options) => call(`/providers${path}`, { appId, organizationId }, options))
  for (const [platform, adapter] of adapters) {
    if (!gateway && everyNetwork[platform].protocol?.viaGateway) continue
    const application = configured[platform]
    const where = whereabouts[platform]
    if (application) own.set(platform, { application, network: adapter.open(application, outbound, gateway) })
    const network = own.get(platform)?.network ?? (where && adapter.open({ ...nobodys, ...where }, outbound, gateway))
    if (network) networks.set(platform, network)
  }
  /**
   * Cached answers expire by the process's own clock too, so that secrets leave the memory even without further
   * requests.
   */
  const heard = new LRUCache<string, { readonly found: Promise<Found>; readonly at: number; forMs: number }>({
    max: mostRemembered,
    ttl: heardForMs,
    ttlAutopurge: true,
  })
  let isRefused = false

  /** Logs a failed request to the gateway once per outage. */
  const refused = (status: number): NotSetUp => {
    if (!isRefused) log.warn({ status }, `providers gives ${appId} no network applications: its service client needs NETWORK_APPLICATIONS`)
    isRefused = true
    return none
  }

  const ask = async (platform: Platform, organizationId: string): Promise<Found> => {
    const { path } = everyNetwork[platform]
    const asked = `/providers/api/internal/network-applications/${path.replace('-', '_')}`
    const { status, text } = await call!(asked, { appId, organizationId }, { timeoutMs: timeoutMs })
    if (status === 404) return none
    if (status === 401 || status === 403) return refused(status)
    const { clientId, clientSecret } = readJson<{ clientId: unknown; clientSecret: unknown }>(text)
    if (status !== 200 || typeof clientId !== 'string' || typeof clientSecret !== 'string' || !clientId || !clientSecret)
      throw new Error(`the gateway to providers answered ${status} to the question for an application`)
    isRefused = false
    const application = { clientId, clientSecret, ...whereabouts[platform] }
    return { application, network: adapters.get(platform)!.open(application, outbound, gateway) }
  }

  return {
    networks,
    of: platform => own.get(platform)?.application ?? null,
    async find(platform, organizationId) {
      const set = own.get(platform)
      if (set) return set
      if (!call || !networks.has(platform)) return none
      const key = `${platform} ${organizationId}`
      const now = clock.now().getTime()
      const known = heard.get(key)
      if (known && known.at <= now && now < known.at + known.forMs) return known.found
      const asked = { at: now, forMs: heardForMs, found: Promise.resolve<Found>(unknown) }
      asked.found = ask(platform, organizationId).catch(error => {
        log.warn({ err: error, platform }, 'network application could not be read from providers; it will be retried shortly')
        asked.forMs = askAgainMs
        return unknown
      })
      heard.set(key, asked)
      return asked.found
    },
  }
}
