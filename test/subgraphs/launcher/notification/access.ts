import { newVapidKey, publicOf } from '../../../../subgraphs/launcher/engines/notify/push/key.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all as allScopes, byScopeEachTheirOwn, change, constant, type Fresh, people, publicRoute, row } from '../../../access/row.ts'
import { seedNotification, seedPushSubscription } from './seed.ts'

const read: readonly Scope[] = ['launcher:notifications.read']
const write: readonly Scope[] = ['launcher:notifications.write']

// Keys are told nothing; with the scope to write they may mark all of it.  anonymous key other  viewer member owner outsider
const whoeverIsTold /*                                                  */ = 'refused yes denied yes    yes    yes   yes'
/** A notification is one person's: the owner's. */
const itsPersonAlone /*                                                 */ = 'refused hidden denied hidden hidden yes hidden'
const listed = (selection: string) => constant(`{ notifications { ${selection} } }`)

// Keys are told nothing, so they have no preferences.
const preferences = (cell: string) => `refused nothing refused ${cell} ${cell} ${cell} ${cell}`
const settled = (selection: string) => constant(`{ notificationPreferences { ${selection} } }`)

const byRoute = (cells: string) => cells.replaceAll('denied', 'refused')
const api = '/launcher/api/notifications'
const push = '/launcher/api/push'
const all = { all: true }

/** A notification of the owner. */
const fresh: Fresh = ({ graph, ids, owner }) => seedNotification(graph, { organizationId: ids.organization!, userId: owner.userId! })
/** A push subscription of the owner. */
const freshBrowser: Fresh = ({ graph, owner }) => seedPushSubscription(graph, owner.userId!)
const ofTheOwner /*                                                      */ = 'refused refused refused hidden hidden yes hidden'
const browser = `endpoint: "https://push.example/1", p256dh: "${publicOf(newVapidKey()).toString('base64url')}", auth: "${'A'.repeat(22)}"`

/** Each person has one, of an app that rows install or seeded; keys have none. */
const told /*                                                           */ = 'refused empty refused yes    yes    yes   yes'

export const access: AccessRows = {
  async made(stage) {
    await seedNotification(stage.graph, { organizationId: stage.outsider.organizationId, userId: stage.outsider.userId! })
    const members = await stage.graph.rows<{ userId: string }>('select user_id as "userId" from identity.memberships where organization_id = $1', [
      stage.ids.organization,
    ])
    for (const { userId } of members) await seedNotification(stage.graph, { organizationId: stage.ids.organization!, userId })
    return {}
  },
  fields: [
    row('Query.notifications', read, write, byScopeEachTheirOwn, listed('totalCount'), 'notifications'),
    row('NotificationConnection.nodes', read, write, told, listed('nodes { id }'), 'notifications.nodes'),
    row('NotificationConnection.edges', read, write, told, listed('edges { cursor }'), 'notifications.edges'),
    row('NotificationEdge.node', read, write, told, listed('edges { node { id } }'), 'notifications.edges.node'),
    row('Notification.organization', read, write, told, listed('nodes { organization { id } }'), 'notifications.nodes.organization'),
    row('Query.unreadNotifications', read, write, byScopeEachTheirOwn, constant('{ unreadNotifications }'), 'unreadNotifications'),
    row(
      'Mutation.markNotificationsRead',
      write,
      read,
      itsPersonAlone,
      change('markNotificationsRead', ids => `ids: ["${ids.fresh}"]`, 'unread'),
      'markNotificationsRead',
      fresh,
    ),
    row(
      'Mutation.archiveNotifications',
      write,
      read,
      itsPersonAlone,
      change('archiveNotifications', ids => `ids: ["${ids.fresh}"]`, 'unread'),
      'archiveNotifications',
      fresh,
    ),
    row('Query.notificationPreferences', read, write, preferences('yes'), settled('version'), 'notificationPreferences'),
    row('NotificationPreferences.digest', read, write, preferences('yes'), settled('digest { at }'), 'notificationPreferences.digest'),
    row('NotificationPreferences.quietHours', read, write, preferences('nothing'), settled('quietHours { from }'), 'notificationPreferences.quietHours'),
    row('NotificationPreferences.rules', read, write, preferences('empty'), settled('rules { app }'), 'notificationPreferences.rules'),
    row(
      'Mutation.updateNotificationPreferences',
      allScopes,
      read,
      people,
      change('updateNotificationPreferences', () => 'timeZone: "UTC"', 'version'),
      'updateNotificationPreferences',
    ),
    row(
      'Mutation.sendNotificationDigest',
      allScopes,
      read,
      people,
      constant('mutation { sendNotificationDigest(input: {}) { sent } }'),
      'sendNotificationDigest',
    ),
    row(
      'Mutation.addPushSubscription',
      allScopes,
      read,
      people,
      change('addPushSubscription', () => browser, 'id'),
      'addPushSubscription',
    ),
    row(
      'Mutation.removePushSubscription',
      allScopes,
      read,
      ofTheOwner,
      change('removePushSubscription', ids => `id: "${ids.fresh}"`, 'id'),
      'removePushSubscription',
      freshBrowser,
    ),
    row(
      'Subscription.notificationReceived',
      read,
      write,
      byScopeEachTheirOwn,
      constant('subscription { notificationReceived { id } }'),
      'notificationReceived',
    ),
  ],
  routes: [
    { at: `GET ${api}`, scopes: read, less: write, cells: byScopeEachTheirOwn, path: () => api },
    { at: `GET ${api}/preferences`, scopes: read, less: write, cells: 'refused hidden refused yes yes yes yes', path: () => `${api}/preferences` },
    { at: `PUT ${api}/preferences`, scopes: allScopes, less: read, cells: people, path: () => `${api}/preferences`, body: () => ({ timeZone: 'UTC' }) },
    { at: `POST ${api}/digest`, scopes: allScopes, less: read, cells: people, path: () => `${api}/digest` },
    { at: `POST ${api}/read`, scopes: write, less: read, cells: byRoute(whoeverIsTold), path: () => `${api}/read`, body: () => all },
    { at: `POST ${api}/archive`, scopes: write, less: read, cells: byRoute(whoeverIsTold), path: () => `${api}/archive`, body: () => all },
    {
      ...{ at: `POST ${push}/subscriptions`, scopes: allScopes, less: read, cells: people, path: () => `${push}/subscriptions` },
      body: () => ({ endpoint: 'https://push.example/1', p256dh: publicOf(newVapidKey()).toString('base64url'), auth: 'A'.repeat(22) }),
    },
    {
      ...{ at: `DELETE ${push}/subscriptions/:id`, scopes: allScopes, less: read, cells: ofTheOwner },
      path: ids => `${push}/subscriptions/${ids.fresh}`,
      fresh: freshBrowser,
    },
    { at: `GET ${push}/key`, scopes: read, less: write, cells: publicRoute, path: () => `${push}/key` },
    { at: `POST ${api}/events`, scopes: write, less: read, cells: publicRoute, path: () => `${api}/events`, body: () => ({}), signed: true },
  ],
}
