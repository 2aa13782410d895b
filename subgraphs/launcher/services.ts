import { randomBytes } from 'node:crypto'
import { inTransaction } from '../store/write.ts'
import type { Foundation } from '../subgraph.ts'
import type { Base } from '../wiring/define.ts'
import { billingItems } from './catalog/commerce/items.ts'
import type { Job, Services } from './context.ts'
import { openCatalog } from './engines/catalog/catalog.ts'
import { openStoreSource } from './engines/catalog/store.ts'
import { openEventRuns } from './engines/commerce/events.ts'
import { billingBy } from './engines/commerce/processor.ts'
import { openConsentSync } from './engines/consent/sync.ts'
import { openMail } from './engines/mail/mail.ts'
import { sendBy } from './engines/mail/providers.ts'
import { openAlarm } from './engines/notify/alarm.ts'
import { newVapidKey } from './engines/notify/push/key.ts'
import { openPush } from './engines/notify/push/push.ts'
import { openVapid } from './engines/notify/push/vapid.ts'
import { openNotificationService } from './engines/notify/upstream.ts'
import { openVisitors } from './engines/visitors/visitors.ts'
import { openAppWidgets } from './engines/widgets/apps/apps.ts'
import { newKeys, openViewerTokens } from './engines/widgets/apps/token.ts'
import type { LauncherSettings } from './registration.ts'
import { openAppFailures } from './stores/app-failure.ts'
import { openConsent } from './stores/consent.ts'
import { openPayloads, sharedSecret } from './stores/widget-payload.ts'

/** Names of secrets: the keys of viewer tokens, what signs challenges, and what signs push messages. */
const [keysName, challengesName, vapidName] = ['widget-keys', 'challenges', 'vapid']

/** Opens what reads widgets of third parties. */
export function openApps(
  { clock, sequelize, cipher, publicUrl, environment, log }: Foundation,
  { appsWay }: LauncherSettings,
): Pick<Services, 'appWidgets' | 'viewerTokens'> {
  const secret = () => sharedSecret(sequelize, cipher, keysName, newKeys)
  const viewerTokens = openViewerTokens({ issuer: publicUrl, clock, secret })
  const isDevelopment = environment === 'development'
  const appWidgets = openAppWidgets({
    outbound: appsWay.outbound,
    clock,
    log,
    payloads: openPayloads(sequelize),
    failures: openAppFailures(sequelize),
    tokens: viewerTokens,
    isDevelopment,
  })
  return { appWidgets, viewerTokens }
}

/**
 * Opens the services of the launcher besides its stores.
 * @param apps what reads widgets of third parties, which its stores use as well
 */
export const services =
  (apps: ReturnType<typeof openApps>) =>
  ({ foundation, settings, log, job }: Base<Job, LauncherSettings>): Services => {
    const { ask, callersWay, clock, cipher, environment, events, outbound, publicUrl, sequelize } = foundation
    const { billing, developersUrl, developersWebUrl, dashboardUrl, marketing, reaching } = settings
    const consent = openConsent(sequelize)
    const vapid = openVapid({
      ...{ clock, subject: reaching.vapid.subject },
      secret: async () => reaching.vapid.privateKey ?? sharedSecret(sequelize, cipher, vapidName, async () => newVapidKey()),
    })
    const billingAlarm = openAlarm(clock)
    const push = openPush({ vapid, way: callersWay, cipher, clock, log, dashboardUrl })
    return {
      ...{ ask, callersWay, clock, events, log, outbound, publicUrl, developersUrl, developersWebUrl, dashboardUrl, ...apps },
      ...{ marketing, consent, isDevelopment: environment === 'development' },
      consentSync: openConsentSync({ store: consent, service: marketing.consentService, outbound, clock, log }),
      mail: openMail({ sequelize, cipher, clock, log, send: sendBy(ask) }),
      visitors: openVisitors({
        ...{ sequelize, clock },
        secret: async () => marketing.challengeSecret ?? sharedSecret(sequelize, cipher, challengesName, async () => randomBytes(32).toString('base64url')),
      }),
      billingProcessor: billingBy(ask, billing.prices),
      billingItems,
      ...{ billingAlarm, billingEvents: openEventRuns(billingAlarm, log) },
      seatAlarm: openAlarm(clock),
      jobOf: job,
      noticeAlarm: openAlarm(clock),
      mailAlarm: openAlarm(clock),
      digestAlarm: openAlarm(clock),
      ...{ push, pushAlarm: push.alarm },
      snoozeAlarm: openAlarm(clock),
      announcementAlarm: openAlarm(clock),
      invitationAlarm: openAlarm(clock),
      notificationService: reaching.service && openNotificationService(reaching.service, outbound, log),
      storeSource: openStoreSource({ outbound, clock, developersUrl }),
      catalog: openCatalog({
        ...{ ask, outbound, clock, log, developersUrl },
        replace(isPlatform, listed) {
          const context = job('catalogue')
          return inTransaction(context, ({ transaction, now }) => context.catalogEntries.replace(isPlatform, listed, now, transaction))
        },
      }),
    }
  }
