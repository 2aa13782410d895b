import type { Reaches } from '../../platform/outbound/public.ts'
import type { Dial } from '../../platform/smtp/line.ts'
import type { Registration } from '../subgraph.ts'
import type { PriceSettings } from './engines/spend/open.ts'
import type { Addresses } from './engines/third-party/addresses.ts'
import type { QuotaTable } from './engines/video/table.ts'

/** The gateway's registration: data only, so that other processes can read it. */
export const registration: Registration = {
  slug: 'providers',
  appId: 'app_providers',
  title: 'Providers',
  contexts: ['organization'],
  icon: '/icons/providers.svg',
  asks: [],
  widget: { audience: 'organization' },
  lifecycle: 'active',
  kind: 'application',
  capabilities: [],
  mobileApps: [],
}

/** Settings of providers from the configuration. */
export interface ProvidersSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
  /** Prices of models without a price of their own, in micro-US-dollars. */
  readonly prices: PriceSettings
  /** Time limits of models. */
  readonly aiTimes: AiTimes
  readonly email: EmailSettings
  /** Whether model sources are read regularly without a request. */
  readonly synchronisesModels: boolean
  /** Addresses of third parties. */
  readonly thirdParties: Addresses
  readonly credentialServers: CredentialServers
}

/** Time limits of models, in ms. */
export interface AiTimes {
  /** Time limit of the first byte of an answer. */
  readonly firstByteMs: number
  /** Time limit between two bytes of an answer. */
  readonly idleMs: number
  /** Time limit of a whole call, with all of its attempts. */
  readonly totalMs: number
}

/** Settings of mail from the configuration. */
export interface EmailSettings {
  /** DNS servers; null for those of the machine. */
  readonly dnsServers: readonly string[] | null
  /** Secret that signs reports of mail servers; null: no reports are accepted. */
  readonly eventsSecret: string | null
  /** Domain under which the operator publishes the sending servers and receives bounces. */
  readonly domain: string
  /** Mail servers, `host:port`, that may have a private address. */
  readonly allowedServers: readonly string[]
  /** Days after which mails are deleted. */
  readonly days: number
}

/**
 * Access to servers whose address the owner of a credential chooses, such as model servers and mail servers. It
 * includes the operator's servers (`OUTBOUND_ALLOW`).
 */
export interface CredentialServers {
  /** Checks in advance whether an address may be called. */
  readonly reaches: Reaches
  /** Connects to a mail server. */
  readonly dial: Dial
}

/** Quotas, so that one caller cannot fill the database. */
export interface Quotas {
  /** Credentials of one organization, or of the platform itself. */
  readonly credentialsAnOrganization: number
  /** Quota costs of the video network; null for YouTube's since 2026. */
  readonly youtubeQuota: QuotaTable | null
  /** Spend limits of one organization, or of the platform itself. */
  readonly spendLimitsAnOrganization: number
  /**
   * Micro-US-dollars that an organization may spend per month with the platform's credentials, unless a platform admin
   * sets another limit; null: unlimited.
   */
  readonly platformCredentialsMicros: bigint | null
  /**
   * Maximum recipients of mails that people and keys of one organization send in the platform's name within 24 hours.
   */
  readonly mailsFromPlatformADay: number
}
