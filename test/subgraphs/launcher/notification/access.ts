import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, change, constant, type Fresh, row } from '../../../access/row.ts'
import { seedNotification } from './seed.ts'

const read: readonly Scope[] = ['launcher:notifications.read']
const write: readonly Scope[] = ['launcher:notifications.write']

// Keys are told nothing; with the scope to write they may mark all of it.  anonymous key other  viewer member owner outsider
const whoeverIsTold /*                                                  */ = 'refused yes denied yes    yes    yes   yes'
/** A notification is one person's: the owner's. */
const itsPersonAlone /*                                                 */ = 'refused hidden denied hidden hidden yes hidden'
const listed = (selection: string) => constant(`{ notifications { ${selection} } }`)

const byRoute = (cells: string) => cells.replaceAll('denied', 'refused')
const api = '/launcher/api/notifications'
const all = { all: true }

/** A notification of the owner. */
const fresh: Fresh = ({ graph, ids, owner }) => seedNotification(graph, { organizationId: ids.organization!, userId: owner.userId! })
/** Each person of the matrix has one; keys have none. */
const told /*                                                           */ = 'refused empty refused empty empty yes yes'

export const access: AccessRows = {
  async made(stage) {
    await seedNotification(stage.graph, { organizationId: stage.outsider.organizationId, userId: stage.outsider.userId! })
    return { notification: await fresh(stage) }
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
    { at: `POST ${api}/read`, scopes: write, less: read, cells: byRoute(whoeverIsTold), path: () => `${api}/read`, body: () => all },
    { at: `POST ${api}/archive`, scopes: write, less: read, cells: byRoute(whoeverIsTold), path: () => `${api}/archive`, body: () => all },
  ],
}
