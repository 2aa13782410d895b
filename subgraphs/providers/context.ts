import type { Transaction } from 'sequelize'
import type { Stripe } from 'stripe'
import type { Cipher } from '../../platform/cipher.ts'
import type { Reaches } from '../../platform/outbound/public.ts'
import type { Dial } from '../../platform/smtp/line.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Viewer } from '../viewer.ts'
import type { Ai } from './engines/models/engine.ts'
import type { Models } from './engines/models/in-use.ts'
import type { Spending } from './engines/spend/open.ts'
import type { Calls } from './engines/spend/order.ts'
import type { OrganizationsInUse } from './engines/spend/organizations.ts'
import type { Addresses } from './engines/third-party/addresses.ts'
import type { CredentialsInUse } from './engines/third-party/credentials.ts'
import type { QuotaTable } from './engines/video/table.ts'
import type { Quotas } from './registration.ts'
import { auditEntryStore } from './stores/administration/audit-entry.ts'
import type { ClientDirectory } from './stores/administration/clients.ts'
import { providerOrganizationStore } from './stores/administration/organization.ts'
import { serviceClientStore } from './stores/administration/service-client.ts'
import { serviceTokenStore } from './stores/administration/service-token.ts'
import { callStore } from './stores/call.ts'
import { credentialStore } from './stores/credential/credential.ts'
import type { PlatformOrganization } from './stores/credential/platform.ts'
import { attachmentStore } from './stores/email/attachment.ts'
import { domainStore, type Seen, type WantedRecord } from './stores/email/domain.ts'
import { identityStore } from './stores/email/identity.ts'
import { messageStore } from './stores/email/message.ts'
import { suppressionStore } from './stores/email/suppression.ts'
import { modelStore } from './stores/model/model.ts'
import { fallbackChainStore, modelPreferenceStore } from './stores/model/settings.ts'
import { type ModelSyncs, modelSourceStore, modelSyncStore } from './stores/model/sync.ts'
import { spendLimitStore } from './stores/spend/limits.ts'
import { videoQuotaStore } from './stores/video/quota.ts'
import { widgetStore } from './stores/widget.ts'

/** Stores of the gateway, under the names that resolvers and jobs use. */
export const stores = (cipher: Cipher) => ({
  credentials: credentialStore(cipher),
  auditEntries: auditEntryStore,
  providerOrganizations: providerOrganizationStore,
  serviceClients: serviceClientStore,
  serviceTokens: serviceTokenStore,
  aiModels: modelStore,
  modelPreferences: modelPreferenceStore,
  fallbackChains: fallbackChainStore,
  modelSyncs: modelSyncStore,
  modelSources: modelSourceStore,
  videoQuota: videoQuotaStore,
  widget: widgetStore,
  callRecords: callStore,
  spendLimits: spendLimitStore,
  senderDomains: domainStore(cipher),
  senderIdentities: identityStore,
  emailMessages: messageStore(cipher),
  emailAttachments: attachmentStore(cipher),
  emailSuppressions: suppressionStore,
})

/** Services of mail besides its rows, created once in `email/open.ts`. */
export interface Mailing {
  /**
   * Domain under which the operator publishes the sending servers and receives bounces: `example.com` for
   * `_spf.example.com`.
   */
  readonly mailDomain: string
  /** Looks up DNS records. A record without any server's answer is missing in the result. */
  lookUp(wanted: readonly WantedRecord[]): Promise<Seen>
  /** Schedules a mail, in the transaction that requires it. */
  wake(message: { readonly id: string; readonly organizationId: string }, at: Date, transaction: Transaction): Promise<void>
}

/** Services of the gateway besides its stores, created once in `services.ts`. */
export interface Services extends Pick<Foundation, 'clock' | 'events' | 'outbound' | 'callersWay' | 'publicUrl'> {
  readonly quotas: Quotas
  /** Whether the address of a credential may be called: the operator's own servers (OUTBOUND_ALLOW) may. */
  readonly reaches: Reaches
  /** Connects to mail servers that credentials name. */
  readonly dial: Dial
  readonly thirdParties: Addresses
  readonly credentialsInUse: CredentialsInUse
  readonly platformOrganization: PlatformOrganization
  /** Quota costs of the video network's calls. */
  readonly quotaTable: QuotaTable
  /** Selects models for calls. */
  readonly models: Models
  /** Synchronizes model sources. */
  readonly modelRuns: ModelSyncs
  /** Looks up service clients. */
  readonly clients: ClientDirectory
  /** Looks up settings of organizations. */
  readonly organizationsInUse: OrganizationsInUse
  readonly calls: Calls
  readonly spending: Pick<Spending, 'count'>
  /** Whether a person is a member of the organization, according to identity. */
  isMember(who: { readonly userId: string; readonly organizationId: string }, viewer: Viewer): Promise<boolean>
  /** Loads the payment processor's official client at its first use. */
  readonly processor: () => Promise<Stripe>
  /** Calls to models. */
  readonly ai: Ai
  readonly mailing: Mailing
}

type Stores = ReturnType<typeof stores>

/** What resolvers receive: the viewer, and the stores limited to the viewer's organization. */
export type Context = ContextOf<Stores, Services>

/** Context of jobs and demo data: the rows of all organizations. */
export type Job = JobContextOf<Stores, Services>
