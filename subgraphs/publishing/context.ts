import type { Cipher } from '../../platform/cipher.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import type { Turns } from '../../platform/jobs/turns.ts'
import type { Limit } from '../../platform/limit.ts'
import type { Storage } from '../../platform/storage/storage.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { KeyCheck } from '../store/key-check.ts'
import type { Foundation } from '../subgraph.ts'
import type { Receiving } from './engines/media/receiving.ts'
import type { OpenApplications } from './network/account/applications.ts'
import type { DeliveryFigures } from './network/figures.ts'
import type { Networks } from './network/network.ts'
import type { Quotas } from './registration.ts'
import { attemptStore } from './stores/attempt.ts'
import { authorizationStore } from './stores/authorization.ts'
import { brandStore } from './stores/brand.ts'
import { connectionStore } from './stores/connection.ts'
import { analyticsStore } from './stores/insight/analytics.ts'
import { dashboardStore } from './stores/insight/dashboard.ts'
import { daySumsStore } from './stores/insight/day-sums.ts'
import { widgetStore } from './stores/insight/widget.ts'
import { assetStore } from './stores/media/asset.ts'
import { folderStore } from './stores/media/folder.ts'
import { generatedImageStore } from './stores/media/image.ts'
import { objectStore } from './stores/media/object.ts'
import { type TrendReportRow, trendReportStore } from './stores/media/trend.ts'
import { uploadStore } from './stores/media/upload.ts'
import { variantStore } from './stores/media/variant.ts'
import { activityStore } from './stores/news/activity.ts'
import { formerSecretStore } from './stores/news/former-secret.ts'
import { webhookEndpointStore } from './stores/news/webhook.ts'
import { webhookDeliveryStore } from './stores/news/webhook-delivery.ts'
import { placeStore } from './stores/place.ts'
import { calendarStore } from './stores/planning/calendar.ts'
import { calendarFeedStore } from './stores/planning/calendar-feed.ts'
import { campaignStore } from './stores/planning/campaign.ts'
import { postStore } from './stores/post.ts'
import { aboutPosts } from './stores/posts/about.ts'
import { importStore } from './stores/posts/import.ts'
import { threadStore } from './stores/posts/thread.ts'
import { rarePartStore } from './stores/rare-part.ts'
import { networkAccountStore } from './stores/revocation/network-account.ts'
import { signedRequestStore } from './stores/revocation/signed-request.ts'

/** Stores of publishing, under the names that resolvers and jobs use. */
export const stores = (cipher: Cipher) => ({
  brands: brandStore,
  posts: postStore,
  aboutPosts,
  threads: threadStore,
  imports: importStore,
  rareParts: rarePartStore,
  connections: connectionStore(cipher),
  attempts: attemptStore,
  authorizations: authorizationStore(cipher),
  signedRequests: signedRequestStore,
  networkAccounts: networkAccountStore,
  places: placeStore,
  widget: widgetStore,
  mediaAssets: assetStore,
  mediaFolders: folderStore,
  mediaUploads: uploadStore,
  mediaVariants: variantStore,
  mediaObjects: objectStore,
  analytics: analyticsStore,
  daySums: daySumsStore,
  dashboard: dashboardStore,
  campaigns: campaignStore,
  calendar: calendarStore,
  activities: activityStore,
  webhookEndpoints: webhookEndpointStore(cipher),
  formerSecrets: formerSecretStore(cipher),
  webhookDeliveries: webhookDeliveryStore,
  calendarFeeds: calendarFeedStore,
  generatedImages: generatedImageStore,
  trendReports: trendReportStore,
})

/** Signs addresses, and verifies its signatures. */
export type Signatures = Pick<Cipher, 'sign' | 'isSigned'>

/** Services of publishing besides its stores, created once in `services.ts`. */
export interface Services extends Pick<Foundation, 'ask' | 'call' | 'environment' | 'events' | 'clock' | 'log' | 'publicUrl' | 'outbound' | 'callersWay'> {
  readonly storage: Storage
  readonly signatures: Signatures
  readonly receiving: Receiving
  /** Queue for work on pictures, which organizations take in turn; deliveries have a slot of their own. */
  readonly turns: Turns
  /** Limits the originals held in memory while variants for networks are created. */
  readonly originals: Turns
  /** Queue for work on texts, which organizations take in turn. */
  readonly texts: Turns
  /** Counts requests for generated pictures, by organization. */
  readonly drawing: Limit
  /** Reports in the making in this process, by brand. */
  readonly findingTrends: Map<string, Promise<TrendReportRow>>
  readonly applications: OpenApplications
  /** Networks of `applications`. */
  readonly networks: Networks
  readonly deliveries: DeliveryFigures
  /** Counts days whose sums were wrong. */
  readonly sumsThatDrifted: { inc(days: number): void }
  readonly quotas: Quotas
  readonly jobs: Jobs
  readonly keys: KeyCheck
  /** The renewals of tokens that are under way in this process, by connection. */
  readonly renewals: Map<string, Promise<string>>
  /** Deliveries that continue when the renewal that they wait for ends. */
  readonly afterRenewals: Set<Promise<void>>
}

type Stores = ReturnType<typeof stores>

/** What resolvers receive: the viewer, and the stores limited to the viewer's organization. */
export type Context = ContextOf<Stores, Services>

/** Context of delivery and callbacks: the rows of all organizations. */
export type Job = JobContextOf<Stores, Services>
