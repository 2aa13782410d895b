import { nounRoutes } from '../derive/route.ts'

const person = 'theme locale timeZone startPage version'
const organization = 'defaultStartPage supportUrl version'

export const linkRows = nounRoutes({
  select: {
    LauncherHit: 'id kind title app url icon score',
    Favourite: 'id app title url icon order createdAt',
    SharedLink: 'id title url icon order createdById: createdBy { id } version',
    Announcement: 'id title body severity from until url audience dismissed createdById: createdBy { id } version',
  },
  routes: {
    'GET /api/favourites': 'favourites',
    'POST /api/favourites': { run: 'addFavourite', status: 201, location: null },
    'PUT /api/favourites/order': { run: 'orderFavourites', list: 'favourites' },
    'DELETE /api/favourites/:id': 'removeFavourite',
    'GET /api/shared-links': 'sharedLinks',
    'POST /api/shared-links': 'createSharedLink',
    'PUT /api/shared-links/:id': 'updateSharedLink',
    'DELETE /api/shared-links/:id': 'deleteSharedLink',
    'GET /api/announcements': 'announcements',
    'POST /api/announcements': 'createAnnouncement',
    'PUT /api/announcements/:id': 'updateAnnouncement',
    'DELETE /api/announcements/:id': 'deleteAnnouncement',
    'POST /api/announcements/:id/dismissal': { run: 'dismissAnnouncement', status: 204, mayBeEmpty: true },
    'GET /api/search': { run: 'launcherSearch', list: 'hits', names: { query: 'q' } },
    'GET /api/settings/person': { run: 'launcherSettings', name: 'personSettings', select: `person @spread @required { ${person} }` },
    'PUT /api/settings/person': { run: 'updatePersonSettings', select: `person @spread @required { ${person} }` },
    'GET /api/settings/organization': { run: 'launcherSettings', name: 'organizationSettings', select: `organization @spread @required { ${organization} }` },
    'PUT /api/settings/organization': { run: 'updateOrganizationSettings', select: `organization @spread @required { ${organization} }` },
  },
})
