import { newId } from '../../../../../platform/ids.ts'
import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, change, constant, type Fresh, people, peopleOfIt, row } from '../../../../access/row.ts'

const less: readonly Scope[] = ['launcher:launcher.read']
//                                         anonymous key     other   viewer  member  owner outsider
const readers /*                     */ = 'refused refused refused yes     yes     yes   empty'
const managersAlone /*               */ = 'refused refused refused refused refused yes   yes'
const managersOfIt /*                */ = 'refused refused refused refused refused yes   hidden'

/** An announcement of `acme`, which may have a hundred. */
const fresh: Fresh = async ({ graph, ids, owner }) => {
  const [id, at] = [newId(), graph.clock.now()]
  await graph.rows(`delete from launcher.announcements where title = 'fresh'`)
  await graph.rows(
    `insert into launcher.announcements (id, organization_id, audience, severity, title, body, starts_at, created_at, updated_at, created_by)
     values ($1, $2, 'ORGANIZATION', 'INFO', 'fresh', 'Read this.', $3, $3, $3, $4)`,
    [id, ids.organization, at, `user:${owner.userId}`],
  )
  return id
}

const api = '/launcher/api/announcements'
const content = { title: 'Read this', body: 'Now.' }

export const access: AccessRows = {
  async made(stage) {
    await stage.graph.rows(`update launcher.announcements set title = 'kept' where id = $1`, [await fresh(stage)])
    return {}
  },
  fields: [
    row('Query.announcements', all, less, readers, constant('{ announcements { id } }'), 'announcements'),
    // By then everybody who may has written one.
    row('Announcement.createdBy', all, less, people, constant('{ announcements { createdBy { id } } }'), 'announcements.createdBy'),
    row(
      'Mutation.createAnnouncement',
      all,
      less,
      managersAlone,
      change('createAnnouncement', () => 'title: "Read this", body: "Now."', 'id'),
      'createAnnouncement',
    ),
    row(
      'Mutation.updateAnnouncement',
      all,
      less,
      managersOfIt,
      change('updateAnnouncement', ({ fresh }) => `id: "${fresh}", body: "Now."`, 'id'),
      'updateAnnouncement',
      fresh,
    ),
    row(
      'Mutation.deleteAnnouncement',
      all,
      less,
      managersOfIt,
      change('deleteAnnouncement', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteAnnouncement',
      fresh,
    ),
    row(
      'Mutation.dismissAnnouncement',
      all,
      less,
      peopleOfIt,
      change('dismissAnnouncement', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'dismissAnnouncement',
      fresh,
    ),
    row('Subscription.announcementChanged', all, less, people, constant('subscription { announcementChanged { id } }'), 'announcementChanged'),
  ],
  routes: [
    { at: `GET ${api}`, scopes: all, less, cells: people, path: () => api },
    { at: `POST ${api}`, scopes: all, less, cells: managersAlone, path: () => api, body: () => content },
    { ...{ at: `PUT ${api}/:id`, scopes: all, less, cells: managersOfIt, fresh }, path: ids => `${api}/${ids.fresh}`, body: () => ({ body: 'Now.' }) },
    { ...{ at: `DELETE ${api}/:id`, scopes: all, less, cells: managersOfIt, fresh }, path: ids => `${api}/${ids.fresh}` },
    { ...{ at: `POST ${api}/:id/dismissal`, scopes: all, less, cells: peopleOfIt, fresh }, path: ids => `${api}/${ids.fresh}/dismissal` },
  ],
}
