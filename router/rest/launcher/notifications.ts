import { nounRoutes } from '../derive/route.ts'
import type { Documented, ForwardRow, Row } from '../row.ts'

const operations = nounRoutes({
  select: {
    Notification: 'id app kind title body url severity organizationId: organization { id } count createdAt readAt archivedAt',
    UnreadNotifications: 'unread',
    NotificationPreferences: 'timeZone quietHours { from to } digest { frequency at weekday } rules { app kind inApp email push } version',
    NotificationDigest: 'sent openItems unreadNotifications',
    PushSubscription: 'id createdAt',
  },
  routes: {
    'GET /api/notifications': 'notifications',
    'GET /api/notifications/preferences': 'notificationPreferences',
    'PUT /api/notifications/preferences': 'updateNotificationPreferences',
    'POST /api/notifications/digest': 'sendNotificationDigest',
    'POST /api/notifications/read': 'markNotificationsRead',
    'POST /api/notifications/archive': 'archiveNotifications',
    'POST /api/push/subscriptions': { run: 'addPushSubscription', status: 201, location: null },
    'DELETE /api/push/subscriptions/:id': 'removePushSubscription',
  },
})

const text = { type: 'string' } as const
const maybe = { type: ['string', 'null'] } as const

const key: Documented = {
  name: 'readPushKey',
  does: 'The public key that push messages are signed with, which a browser wants as `applicationServerKey` when it subscribes.',
  answers: {
    200: {
      description: 'The key: an uncompressed point of P-256, base64url.',
      schema: { type: 'object', properties: { publicKey: text }, required: ['publicKey'] },
    },
  },
}
const reported: Documented = {
  name: 'reportNotification',
  does: 'Receives what the notification service opens, closes and sends, signed by Standard Webhooks. A repeated message has no effect. 401 for a signature that is not the service’s, 400 for one that is older than 300 seconds.',
  body: {
    schema: {
      type: 'object',
      properties: {
        type: { enum: ['item.opened', 'item.closed', 'notification.sent'] },
        timestamp: { ...text, format: 'date-time' },
        data: {
          type: 'object',
          description: 'The item, or the news: of one person where it names one, else of the organization.',
          properties: {
            ...{ id: text, kind: maybe, title: text, body: maybe, url: maybe },
            severity: { type: ['string', 'null'], enum: ['CRITICAL', 'HIGH', 'NORMAL', 'LOW', null] },
            ...{ organizationId: maybe, userId: maybe, at: maybe, dueAt: maybe, scope: maybe },
          },
          required: ['id', 'title'],
        },
      },
      required: ['type', 'timestamp', 'data'],
    },
  },
  refuses: [401],
  answers: { 204: 'It was taken.' },
}

const forwarded = { kind: 'forward', to: 'launcher' } as const satisfies Partial<ForwardRow>

export const notificationRows: readonly Row[] = [
  ...operations,
  {
    ...{ ...forwarded, method: 'GET', path: '/api/push/key', limit: 0, why: 'own answer' },
    access: { public: 'Browsers read it before anybody has signed in.' },
    describes: [key],
  },
  {
    ...{ ...forwarded, method: 'POST', path: '/api/notifications/events', limit: 64 * 1024, why: 'raw body' },
    access: { public: 'The notification service reports here; its signature authenticates it.' },
    describes: [reported],
  },
]
