import type { Noun } from '../../wiring/define.ts'
import type { At } from '../context.ts'
import { deliverNotices } from '../engines/notify/deliver.ts'
import { resyncNotifications } from '../engines/notify/notify.ts'
import { preferencesResolvers } from './preferences/resolvers.ts'
import { notificationResolvers } from './resolvers.ts'

/** Notifications: what people are told, without something to do. */
export const notification: Noun<At> = {
  resolvers: notificationResolvers,
  sweeps: ({ services: { noticeAlarm }, job }) => [noticeAlarm.sweep({ name: 'notices', asksOthers: true }, () => deliverNotices(job('notices')))],
  resync: ({ services: { events }, job }) => resyncNotifications(events, (ownerKey, since) => job('facts').notifications.arrivedSince(ownerKey, since)),
}

/** How a person wants to be told. */
export const notificationPreferences: Noun<At> = { resolvers: preferencesResolvers }
