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

/** What providers keeps, each store under the name by which resolvers and jobs know it. */
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

/** What mail works with beside its rows: made once, in `email/open.ts`. */
export interface Mailing {
  /** Where the operator publishes whose servers send, and where returned mail goes: `example.com` for `_spf.example.com`. */
  readonly mailDomain: string
  /** Looks records of DNS up. One that no server answered for is not in what it found. */
  lookUp(wanted: readonly WantedRecord[]): Promise<Seen>
  /** Has a mail looked at, in the transaction that makes it necessary. */
  wake(message: { readonly id: string; readonly organizationId: string }, at: Date, transaction: Transaction): Promise<void>
}

/** What providers works with besides: made once in `services.ts`. */
export interface Services extends Pick<Foundation, 'clock' | 'events' | 'outbound' | 'callersWay' | 'publicUrl'> {
  readonly quotas: Quotas
  /** Whether the address of a credential may be called: the operator's own servers (OUTBOUND_ALLOW) may. */
  readonly reaches: Reaches
  /** Connects to mail servers that credentials name. */
  readonly dial: Dial
  readonly thirdParties: Addresses
  readonly credentialsInUse: CredentialsInUse
  readonly platformOrganization: PlatformOrganization
  /** How the video network counts. */
  readonly quotaTable: QuotaTable
  /** Who answers calls to models. */
  readonly models: Models
  /** Asking what models there are. */
  readonly modelRuns: ModelSyncs
  /** Who may call for itself. */
  readonly clients: ClientDirectory
  /** How organizations use the gateway. */
  readonly organizationsInUse: OrganizationsInUse
  readonly calls: Calls
  readonly spending: Pick<Spending, 'count'>
  /** Whether somebody is a member of the organization, as identity knows it. */
  isMember(who: { readonly userId: string; readonly organizationId: string }, viewer: Viewer): Promise<boolean>
  /** The official client of the payment processor, which is loaded when it is first asked for. */
  readonly processor: () => Promise<Stripe>
  /** The way to models. */
  readonly ai: Ai
  readonly mailing: Mailing
}

type Stores = ReturnType<typeof stores>

/** What resolvers receive: the viewer, and the stores limited to the viewer's organization. */
export type Context = ContextOf<Stores, Services>

/** What jobs and demo data work with: everybody's rows. */
export type Job = JobContextOf<Stores, Services>
