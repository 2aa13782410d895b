import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { CallWhole } from '../../../../platform/ask.ts'
import type { Clock } from '../../../../platform/clock.ts'
import type { WayOut } from '../../../../platform/outbound/outbound.ts'
import { readJson } from '../json.ts'
import type { Adapter, Application, Gateway, Network, Networks, Platform } from '../network.ts'
import { type Applications, everyNetwork, type NetworkPlaces } from '../networks.ts'

/** Our application at a network, and the network spoken to with it. */
export interface SetUp {
  readonly application: Application
  readonly network: Network
}

/** No application: there is none, or nobody can say at this moment. */
export interface NotSetUp {
  readonly application: null
  readonly network: null
  /** False: whoever keeps applications could not be asked. */
  readonly isKnown: boolean
}

export type Found = SetUp | NotSetUp

/** Our applications at networks, and the networks spoken to with what they granted, which takes no application. */
export interface OpenApplications {
  /** Those that we know how to find; the map stays the same one. What they grant, renew and sign takes the network that `find` answers. */
  readonly networks: Networks
  /** The one that this process was configured with, which is everybody's; null: none. */
  of(platform: Platform): Application | null
  /**
   * The application with which accounts of an organization are connected: the configured one, else what the gateway to providers keeps, its own or
   * the platform's, as it was at most a minute ago. Never rejects.
   */
  find(platform: Platform, organizationId: string): Promise<Found>
}

export interface ApplicationsOptions {
  /** Under which publishing calls the gateway: `app_publishing`. */
  readonly appId: string
  readonly adapters: ReadonlyMap<Platform, Adapter>
  readonly configured: Applications
  /** Where networks are, for applications that are kept elsewhere. */
  readonly whereabouts: NetworkPlaces
  /** Calls the gateway; null: nobody keeps any, and networks that are asked by way of it are not set up. */
  readonly call: CallWhole | null
  readonly clock: Clock
  readonly log: Logger
  readonly outbound: WayOut
}

/** For how long what was heard counts, in ms. */
const heardForMs = 60_000
/** Delay in ms before an unavailable provider gateway is asked again. */
const askAgainMs = 5_000
/** How long the gateway may take, in ms: a person waits for it. */
const patienceMs = 5_000
/** Of how many organizations and networks something is remembered. */
const mostRemembered = 1_000

/** Stands for credentials where none are needed: adapters want some. */
const nobodys = { clientId: 'none', clientSecret: 'none' } as const

const none: NotSetUp = { application: null, network: null, isKnown: true }
const unknown: NotSetUp = { application: null, network: null, isKnown: false }

/** Opens the networks at which there may be an application of ours. */
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
  /** Secrets are forgotten by the process's own time too, whether or not anybody asks again. */
  const heard = new LRUCache<string, { readonly found: Promise<Found>; readonly at: number; forMs: number }>({
    max: mostRemembered,
    ttl: heardForMs,
    ttlAutopurge: true,
  })
  let isRefused = false

  /** What was asked and not had is told to operators, once as long as it stays so. */
  const refused = (status: number): NotSetUp => {
    if (!isRefused) log.warn({ status }, `providers gives ${appId} no network applications: its service client needs NETWORK_APPLICATIONS`)
    isRefused = true
    return none
  }

  const ask = async (platform: Platform, organizationId: string): Promise<Found> => {
    const { path } = everyNetwork[platform]
    const asked = `/providers/api/internal/network-applications/${path.replace('-', '_')}`
    const { status, text } = await call!(asked, { appId, organizationId }, { timeoutMs: patienceMs })
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
