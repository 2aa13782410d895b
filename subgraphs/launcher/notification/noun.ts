import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { deliverNotices } from '../engines/notify/deliver.ts'
import { resyncNotifications } from '../engines/notify/notify.ts'
import { digestResolvers } from './digest/resolvers.ts'
import { sendDigests } from './digest/send.ts'
import { serviceHandlers } from './inbound/handlers.ts'
import { takeOpen } from './inbound/take.ts'
import { writeMails } from './mail/write.ts'
import { preferencesResolvers } from './preferences/resolvers.ts'
import { pushHandlers } from './push/handlers.ts'
import { pushSubscriptionResolvers } from './push/resolvers.ts'
import { notificationResolvers } from './resolvers.ts'

/** Notifications: what people are told, without something to do. */
export const notification: Noun<At> = {
  resolvers: notificationResolvers,
  sweeps: ({ services: { noticeAlarm, mailAlarm }, job }) => [
    noticeAlarm.sweep({ name: 'notices', asksOthers: true }, () => deliverNotices(job('notices'))),
    mailAlarm.sweep({ name: 'mails to people', asksOthers: true }, () => writeMails(job('mails'))),
  ],
  resync: ({ services: { events }, job }) => resyncNotifications(events, (ownerKey, since) => job('facts').notifications.arrivedSince(ownerKey, since)),
}

/** How a person wants to be told. */
export const notificationPreferences: Noun<At> = { resolvers: preferencesResolvers }

/** Mails of what waits for a person and what they have not read. */
export const notificationDigest: Noun<At> = {
  resolvers: digestResolvers,
  sweeps: ({ services: { digestAlarm }, job }) => [digestAlarm.sweep({ name: 'digests', asksOthers: true }, () => sendDigests(job('digests')))],
}

/** Browsers of people, and the push messages to them. */
export const pushSubscription: Noun<At> = {
  resolvers: pushSubscriptionResolvers,
  handlers: pushHandlers,
  sweeps: ({ services: { push }, job }) => [push.sweep(() => job('push'))],
  stop: ({ services: { push } }) => push.ended(),
}

/** How often the notification service is read whole, in ms: between, it reports by itself. */
const readEveryMs = 60_000

/** Items of the notification service. */
export const notificationService: Noun<At> = {
  handlers: serviceHandlers,
  sweeps: ({ foundation: { clock }, services: { notificationService: service }, job }) =>
    service
      ? [
          {
            name: 'items of the notification service',
            everyMs: readEveryMs,
            asksOthers: true,
            run: () => takeOpen(job('notification-service'), service, clock),
          },
        ]
      : [],
}
