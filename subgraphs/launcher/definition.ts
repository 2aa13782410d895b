import type { Foundation } from '../subgraph.ts'
import { defineSubgraph, type Noun } from '../wiring/define.ts'
import { actionItem } from './action-item/noun.ts'
import { commerceNouns } from './catalog/commerce/nouns.ts'
import { catalogNouns } from './catalog/nouns.ts'
import { type At, stores } from './context.ts'
import { dashboardNouns } from './dashboard/nouns.ts'
import { launchNouns } from './launch/nouns.ts'
import { marketingNouns } from './marketing/nouns.ts'
import { notification, notificationDigest, notificationPreferences, notificationService, pushSubscription } from './notification/noun.ts'
import { received } from './received.ts'
import { type LauncherSettings, registration } from './registration.ts'
import { openApps, services } from './services.ts'
import { retentionRules } from './stores/retention.ts'
import { widget } from './widget/noun.ts'

const nouns: Readonly<Record<string, Noun<At>>> = {
  'action-item': actionItem,
  ...catalogNouns,
  ...commerceNouns,
  ...marketingNouns,
  ...launchNouns,
  ...dashboardNouns,
  notification,
  'notification-preferences': notificationPreferences,
  'notification-digest': notificationDigest,
  'push-subscription': pushSubscription,
  'notification-service': notificationService,
  widget,
  audit: { retention: () => retentionRules },
}

/** Defines the launcher: live widgets on one dashboard with links and announcements, the app catalogue and its installations, and the action items of all apps. */
export function define(foundation: Foundation, settings: LauncherSettings) {
  const apps = openApps(foundation, settings)
  return defineSubgraph(foundation, settings, {
    ...{ registration, received, nouns },
    stores: stores(foundation.ask, apps.appWidgets),
    services: services(apps),
  })
}
