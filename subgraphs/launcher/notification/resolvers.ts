import { mapEvents } from '../../../platform/events.ts'
import { notFound } from '../../store/store.ts'
import { inTransaction } from '../../store/write.ts'
import { isPerson } from '../../viewer.ts'
import { requireMayChange } from '../action-item/rules.ts'
import type { Context } from '../context.ts'
import { topicOf } from '../engines/notify/notify.ts'
import type { Resolvers } from '../resolvers.generated.ts'
import type { NotificationOwner } from '../stores/inbox/notification.ts'
import { readMarked } from './rules.ts'

/** Whose notifications a viewer sees; null for programs, also those that act for a person: they see none. */
function ownerOf({ viewer }: Context): NotificationOwner | null {
  const { organizationId, userId } = viewer
  return userId === null || !isPerson(viewer) ? null : { organizationId, userId }
}

/** Marks notifications of the viewer, all those that are given or none. @returns what is left */
async function mark(context: Context, input: Parameters<typeof readMarked>[0], how: 'read' | 'unread' | 'archived' | 'present') {
  const { viewer, notifications } = context
  requireMayChange(viewer)
  const [ids, owner] = [readMarked(input), ownerOf(context)]
  if (owner === null) {
    if (ids) throw notFound(notifications.what, ids[0]!)
    return { unread: 0 }
  }
  return inTransaction(context, async ({ transaction, now }) => {
    const owned = ids && (await notifications.lockOwned(owner, ids, transaction))
    const strange = ids?.find(id => !owned!.includes(id))
    if (strange) throw notFound(notifications.what, strange)
    await notifications.mark(owner, how, ids, now, transaction)
    return { unread: await notifications.unread(owner, transaction) }
  })
}

export const notificationResolvers: Resolvers = {
  Query: {
    notifications: (_, { unread, app, archived, ...page }, { viewer, notifications }) =>
      notifications.filtered({ isHidden: !isPerson(viewer), app, isUnread: unread ?? false, isArchived: archived ?? false }, page),
    async unreadNotifications(_, __, context) {
      const owner = ownerOf(context)
      return owner ? context.notifications.unread(owner) : 0
    },
  },
  Mutation: {
    markNotificationsRead: (_, { input }, context) => mark(context, input, (input.read ?? true) ? 'read' : 'unread'),
    archiveNotifications: (_, { input }, context) => mark(context, input, (input.archived ?? true) ? 'archived' : 'present'),
  },
  Subscription: {
    notificationReceived: {
      subscribe(_, __, context) {
        const owner = ownerOf(context)
        return mapEvents(context.events.listen(owner ? [topicOf(owner)] : []), event => ({ id: event.id! }))
      },
      // Read for each event, so the viewer's present rights apply.
      resolve: ({ id }: { id: string }, _: unknown, { notifications }: Context) => notifications.byId.load(id),
    },
  },
  Notification: {
    organization: ({ organizationId }) => (organizationId ? { __typename: 'Organization', id: organizationId } : null),
  },
}
