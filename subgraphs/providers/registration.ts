import type { Reaches } from '../../platform/outbound/public.ts'
import type { Dial } from '../../platform/smtp/line.ts'
import type { Registration } from '../subgraph.ts'
import type { PriceSettings } from './engines/spend/open.ts'
import type { Addresses } from './engines/third-party/addresses.ts'
import type { QuotaTable } from './engines/video/table.ts'

/** How providers presents itself to the registry: data alone, so that whoever runs apart may read it. */
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

/** What providers is told by configuration. */
export interface ProvidersSettings {
  readonly quotas: Quotas
  readonly retention: { readonly auditDays: number }
  /** What is paid where no model has a price, in micro-dollars. */
  readonly prices: PriceSettings
  /** How long models may take. */
  readonly aiTimes: AiTimes
  readonly email: EmailSettings
  /** Whether sources of models are asked without anybody asking for it. */
  readonly synchronisesModels: boolean
  /** Where third parties are. */
  readonly thirdParties: Addresses
  readonly credentialServers: CredentialServers
}

/** How long models may take, in ms. */
export interface AiTimes {
  /** Until the first byte of an answer. */
  readonly firstByteMs: number
  /** Between two bytes of it. */
  readonly idleMs: number
  /** For a call in all, however many are tried. */
  readonly totalMs: number
}

/** What mail is told by configuration. */
export interface EmailSettings {
  /** Servers of DNS; null: those of the machine. */
  readonly dnsServers: readonly string[] | null
  /** With what reports of mail servers are signed; null: none are taken. */
  readonly eventsSecret: string | null
  /** Where the operator publishes whose servers send, and where returned mail goes. */
  readonly domain: string
  /** Places of mail servers, `host:port`, that may lie on a private address. */
  readonly allowedServers: readonly string[]
  /** For how many days mails are kept. */
  readonly days: number
}

/** How servers are reached that whoever keeps a credential names: a model server, a mail server. Those of the operator (`OUTBOUND_ALLOW`) are among them. */
export interface CredentialServers {
  /** Tells beforehand whether an address may be called. */
  readonly reaches: Reaches
  /** Connects to a mail server. */
  readonly dial: Dial
}

/** How much may be made, so that one caller cannot fill the database. */
export interface Quotas {
  /** Credentials of one organization, or of the platform itself. */
  readonly credentialsAnOrganization: number
  /** How the video network counts; null: as YouTube does since 2026. */
  readonly youtubeQuota: QuotaTable | null
  /** Spend limits of one organization, or of the platform itself. */
  readonly spendLimitsAnOrganization: number
  /** Micro-dollars that one organization may spend with credentials of the platform in a month, unless somebody has set it; null: as much as it likes. */
  readonly platformCredentialsMicros: bigint | null
  /** Recipients of what people and keys of one organization send in the name of the platform, in 24 hours. */
  readonly mailsFromPlatformADay: number
}
