import { nounRoutes } from '../derive/route.ts'

export const notificationRows = nounRoutes({
  select: {
    Notification: 'id app kind title body url severity organizationId: organization { id } count createdAt readAt archivedAt',
    UnreadNotifications: 'unread',
    NotificationPreferences: 'timeZone quietHours { from to } digest { frequency at weekday } rules { app kind inApp email push } version',
  },
  routes: {
    'GET /api/notifications': 'notifications',
    'GET /api/notifications/preferences': 'notificationPreferences',
    'PUT /api/notifications/preferences': 'updateNotificationPreferences',
    'POST /api/notifications/read': 'markNotificationsRead',
    'POST /api/notifications/archive': 'archiveNotifications',
  },
})
