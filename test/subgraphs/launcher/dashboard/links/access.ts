import { newId } from '../../../../../platform/ids.ts'
import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, change, constant, type Fresh, people, row, type Stage } from '../../../../access/row.ts'

const less: readonly Scope[] = ['launcher:launcher.read']
//                                                   anonymous key     other   viewer  member  owner outsider
const peopleOfIt /*                            */ = 'refused refused refused yes     yes     yes   empty'
const themselves /*                            */ = 'refused refused refused hidden  hidden  yes   hidden'
const managersAlone /*                         */ = 'refused refused refused refused refused yes   yes'
const managersOfIt /*                          */ = 'refused refused refused refused refused yes   hidden'
const nobodys = people.replaceAll('yes', 'empty')
const without = people.replaceAll('yes', 'nothing')

/** A favourite of the owner. */
const freshFavourite: Fresh = async ({ graph, ids, owner }) => {
  const [id, at] = [newId(), graph.clock.now()]
  await graph.rows(
    `insert into launcher.favourites (id, organization_id, user_id, title, url, position, created_at, updated_at, created_by)
     values ($1, $2, $3, 'Wiki', 'https://demo.example/wiki', 0, $4, $4, 'test')`,
    [id, ids.organization, owner.userId, at],
  )
  return id
}
/** Nobody has a favourite. */
const noFavourites: Fresh = async ({ graph }) => {
  await graph.rows('delete from launcher.favourites')
  return ''
}
/** A link of `acme`, which may have fifty. */
const freshLink: Fresh = async ({ graph, ids, owner }: Stage) => {
  const [id, at] = [newId(), graph.clock.now()]
  await graph.rows(`delete from launcher.shared_links where title = 'fresh'`)
  await graph.rows(
    `insert into launcher.shared_links (id, organization_id, title, url, position, created_at, updated_at, created_by)
     values ($1, $2, 'fresh', 'https://demo.example/rota', 1, $3, $3, $4)`,
    [id, ids.organization, at, `user:${owner.userId}`],
  )
  return id
}

const api = '/launcher/api'
const link = { title: 'Wiki', url: 'https://demo.example/wiki' }
const given = 'title: "Wiki", url: "https://demo.example/wiki"'

export const access: AccessRows = {
  async made(stage) {
    const at = stage.graph.clock.now()
    await stage.graph.rows(
      `insert into launcher.shared_links (id, organization_id, title, url, position, created_at, updated_at, created_by)
       values ($1, $2, 'Rota', 'https://demo.example/rota', 0, $3, $3, $4)`,
      [newId(), stage.ids.organization, at, `user:${stage.owner.userId}`],
    )
    return {}
  },
  fields: [
    row(
      'Mutation.orderFavourites',
      all,
      less,
      nobodys,
      change('orderFavourites', () => 'ids: []', 'id'),
      'orderFavourites',
      noFavourites,
    ),
    row(
      'Mutation.addFavourite',
      all,
      less,
      people,
      change('addFavourite', () => given, 'id'),
      'addFavourite',
    ),
    row('Query.favourites', all, less, people, constant('{ favourites { id } }'), 'favourites'),
    row('Query.launcherSearch', all, less, people, constant('{ launcherSearch(query: "") { id } }'), 'launcherSearch'),
    row('Favourite.entry', all, less, without, constant('{ favourites { entry { id } } }'), 'favourites.entry'),
    row(
      'Mutation.removeFavourite',
      all,
      less,
      themselves,
      change('removeFavourite', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'removeFavourite',
      freshFavourite,
    ),
    row('Query.sharedLinks', all, less, peopleOfIt, constant('{ sharedLinks { id } }'), 'sharedLinks'),
    // By then everybody who may has made one.
    row('SharedLink.createdBy', all, less, people, constant('{ sharedLinks { createdBy { id } } }'), 'sharedLinks.createdBy'),
    row(
      'Mutation.createSharedLink',
      all,
      less,
      managersAlone,
      change('createSharedLink', () => given, 'id'),
      'createSharedLink',
    ),
    row(
      'Mutation.updateSharedLink',
      all,
      less,
      managersOfIt,
      change('updateSharedLink', ({ fresh }) => `id: "${fresh}", title: "fresh"`, 'id'),
      'updateSharedLink',
      freshLink,
    ),
    row(
      'Mutation.deleteSharedLink',
      all,
      less,
      managersOfIt,
      change('deleteSharedLink', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'deleteSharedLink',
      freshLink,
    ),
  ],
  routes: [
    { at: `GET ${api}/favourites`, scopes: all, less, cells: people, path: () => `${api}/favourites` },
    {
      ...{ at: `PUT ${api}/favourites/order`, scopes: all, less, cells: people, fresh: noFavourites },
      path: () => `${api}/favourites/order`,
      body: () => ({ ids: [] }),
    },
    { at: `POST ${api}/favourites`, scopes: all, less, cells: people, path: () => `${api}/favourites`, body: () => link },
    {
      ...{ at: `DELETE ${api}/favourites/:id`, scopes: all, less, cells: themselves, fresh: freshFavourite },
      path: ({ fresh }) => `${api}/favourites/${fresh}`,
    },
    { at: `GET ${api}/search`, scopes: all, less, cells: people, path: () => `${api}/search?q=` },
    { at: `GET ${api}/shared-links`, scopes: all, less, cells: people, path: () => `${api}/shared-links` },
    { at: `POST ${api}/shared-links`, scopes: all, less, cells: managersAlone, path: () => `${api}/shared-links`, body: () => link },
    {
      ...{ at: `PUT ${api}/shared-links/:id`, scopes: all, less, cells: managersOfIt, fresh: freshLink },
      path: ({ fresh }) => `${api}/shared-links/${fresh}`,
      body: () => ({ title: 'fresh' }),
    },
    {
      ...{ at: `DELETE ${api}/shared-links/:id`, scopes: all, less, cells: managersOfIt, fresh: freshLink },
      path: ({ fresh }) => `${api}/shared-links/${fresh}`,
    },
  ],
}
