import { nounRoutes } from '../derive/route.ts'

export const notificationRows = nounRoutes({
  select: {
    Notification: 'id app kind title body url severity organizationId: organization { id } count createdAt readAt archivedAt',
    UnreadNotifications: 'unread',
  },
  routes: {
    'GET /api/notifications': 'notifications',
    'POST /api/notifications/read': 'markNotificationsRead',
    'POST /api/notifications/archive': 'archiveNotifications',
  },
})
