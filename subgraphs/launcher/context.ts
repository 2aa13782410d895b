import type { Ask } from '../../platform/ask.ts'
import type { ContextOf, JobContextOf } from '../store/context.ts'
import type { Foundation } from '../subgraph.ts'
import type { Running } from '../wiring/define.ts'
import type { Catalog } from './engines/catalog/catalog.ts'
import type { StoreSource } from './engines/catalog/store.ts'
import type { EventRuns, EventWork } from './engines/commerce/events.ts'
import type { BillingProcessor } from './engines/commerce/processor.ts'
import type { SeatWork } from './engines/commerce/seats.ts'
import type { BillingItems } from './engines/commerce/take-in.ts'
import type { ConsentSync } from './engines/consent/sync.ts'
import type { Mail } from './engines/mail/mail.ts'
import type { Alarm } from './engines/notify/alarm.ts'
import type { Push } from './engines/notify/push/push.ts'
import type { NotificationService } from './engines/notify/upstream.ts'
import type { Visitors } from './engines/visitors/visitors.ts'
import type { AppWidgets } from './engines/widgets/apps/apps.ts'
import type { ViewerTokens } from './engines/widgets/apps/token.ts'
import { widgetStore } from './engines/widgets/widgets.ts'
import type { LauncherSettings } from './registration.ts'
import { accessRequestStore } from './stores/access-request.ts'
import { catalogEntryStore, storeAppStore } from './stores/catalog-entry.ts'
import { billingCheckoutStore } from './stores/commerce/checkout.ts'
import { entitlementStore } from './stores/commerce/entitlement.ts'
import { billingPriceStore } from './stores/commerce/price.ts'
import { processorEventStore } from './stores/commerce/processor-event.ts'
import { seatStore } from './stores/commerce/seat.ts'
import { billingSubscriptionStore, workspaceVerificationStore } from './stores/commerce/subscription.ts'
import type { ConsentStore } from './stores/consent.ts'
import { announcementStore } from './stores/dashboard/announcement.ts'
import { dashboardLayoutStore } from './stores/dashboard/dashboard-layout.ts'
import { favouriteStore } from './stores/dashboard/favourite.ts'
import { householdInvitationStore, householdStore } from './stores/dashboard/household.ts'
import { onboardingStore } from './stores/dashboard/onboarding.ts'
import { searchStore } from './stores/dashboard/search.ts'
import { organizationSettingsStore, personSettingsStore } from './stores/dashboard/settings.ts'
import { sharedLinkStore } from './stores/dashboard/shared-link.ts'
import { actionItemStore } from './stores/inbox/action-item.ts'
import { digestStore } from './stores/inbox/digest.ts'
import { messageStore } from './stores/inbox/message.ts'
import { noticeStore } from './stores/inbox/notice.ts'
import { notificationStore } from './stores/inbox/notification.ts'
import { preferencesStore } from './stores/inbox/notification-preferences.ts'
import { pushSubscriptionStore } from './stores/inbox/push-subscription.ts'
import { serviceMessageStore } from './stores/inbox/service-message.ts'
import { snoozeStore } from './stores/inbox/snooze.ts'
import { installationStore } from './stores/installation.ts'
import { launchStore } from './stores/launch.ts'
import { leadStore } from './stores/lead.ts'
import { workflowStore } from './stores/workflow.ts'

/** Stores of the launcher, under the names that resolvers use. */
export const stores = (ask: Ask, apps: Pick<AppWidgets, 'read'>) => ({
  accessRequests: accessRequestStore,
  actionItems: actionItemStore,
  announcements: announcementStore,
  billingCheckouts: billingCheckoutStore,
  billingPrices: billingPriceStore,
  billingSubscriptions: billingSubscriptionStore,
  catalogEntries: catalogEntryStore,
  dashboardLayouts: dashboardLayoutStore,
  digests: digestStore,
  entitlements: entitlementStore,
  favourites: favouriteStore,
  householdInvitations: householdInvitationStore,
  households: householdStore,
  installations: installationStore,
  leads: leadStore,
  launches: launchStore,
  onboardings: onboardingStore,
  organizationSettings: organizationSettingsStore,
  personSettings: personSettingsStore,
  processorEvents: processorEventStore,
  search: searchStore,
  seats: seatStore,
  sharedLinks: sharedLinkStore,
  messages: messageStore,
  notices: noticeStore,
  notificationPreferences: preferencesStore,
  notifications: notificationStore,
  pushSubscriptions: pushSubscriptionStore,
  serviceMessages: serviceMessageStore,
  snoozes: snoozeStore,
  storeApps: storeAppStore,
  widgets: widgetStore(ask, apps),
  workflows: workflowStore,
  workspaceVerifications: workspaceVerificationStore,
})

/** Services of the launcher besides its stores, opened once in `services.ts`. */
export type Services = Pick<Foundation, 'ask' | 'callersWay' | 'clock' | 'events' | 'log' | 'outbound' | 'publicUrl'> & {
  /** Where the developer platform is; null: it is not asked. */
  readonly developersUrl: string | null
  /** Where the developer platform's pages are; null: people sign up here. */
  readonly developersWebUrl: string | null
  /** Address of the dashboard, without a trailing slash. */
  readonly dashboardUrl: string
  /** Whether addresses may lead to this machine without TLS. */
  readonly isDevelopment: boolean
  /** The copy of the app catalogue. */
  readonly catalog: Catalog
  /** Widgets of third parties. */
  readonly appWidgets: AppWidgets
  /** Tokens that tell apps for whom their widgets are read. */
  readonly viewerTokens: ViewerTokens
  /** Mails, which providers send. */
  readonly mail: Mail
  /** Decisions about cookies, and what tells the consent service of them. */
  readonly consent: ConsentStore
  readonly consentSync: ConsentSync
  /** What protects forms that need no credentials. */
  readonly visitors: Visitors
  /** Where the marketing site is, who is mailed about its leads, and when demos take place. */
  readonly marketing: Pick<LauncherSettings['marketing'], 'url' | 'leadsMailTo' | 'demoTimeZone'>
  /** The payment processor, to which bundles are paid. */
  readonly billingProcessor: BillingProcessor
  readonly billingItems: BillingItems
  /** Begin the sweeps that apply events of the processor, and that give seats. */
  readonly billingAlarm: Alarm
  readonly billingEvents: EventRuns
  readonly seatAlarm: Alarm
  /** Opens the launcher's work for all organizations: visitors and services have none of their own. */
  jobOf(actor: string): EventWork & SeatWork
  /** Begins the sweep that delivers notices. */
  readonly noticeAlarm: Alarm
  /** Begins the sweep that writes mails to people. */
  readonly mailAlarm: Alarm
  /** Begins the sweep that sends digests. */
  readonly digestAlarm: Alarm
  /** Push messages to people's browsers. */
  readonly push: Push
  readonly pushAlarm: Push['alarm']
  /** The notification service; null: there is none. */
  readonly notificationService: NotificationService | null
  /** Begins the sweep that gives snoozed items back. */
  readonly snoozeAlarm: Alarm
  /** Begins the sweep that opens and closes action items of invitations. */
  readonly invitationAlarm: Alarm
  /** Begins the sweep that publishes begins and ends of announcements. */
  readonly announcementAlarm: Alarm
  /** The developer platform's store. */
  readonly storeSource: StoreSource
}

/** Context of resolvers: the viewer, and the rows that the viewer may see. */
export type Context = ContextOf<ReturnType<typeof stores>, Services>

/** Context of fact handlers, with the rows of all organizations. */
export type Job = JobContextOf<ReturnType<typeof stores>, Services>

/** The launcher as its nouns see it. */
export type At = Running<ReturnType<typeof stores>, Services, LauncherSettings>
