import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, people, row } from '../../../access/row.ts'

const read: readonly Scope[] = ['launcher:dashboard.read']
const unrelated: readonly Scope[] = ['launcher:widgets.read']
//                           anonymous key     other   viewer  member  owner outsider
const managersAlone /*  */ = 'refused refused refused refused refused yes   yes'

// Nobody has arranged anything.
const unarranged = people.replaceAll('yes', 'empty')

const api = '/launcher/api/layout'
const layout = { items: [] }

export const access: AccessRows = {
  fields: [
    row('Query.dashboardLayout', all, read, people, constant('{ dashboardLayout { version } }'), 'dashboardLayout'),
    row('DashboardLayout.items', all, read, unarranged, constant('{ dashboardLayout { items { app } } }'), 'dashboardLayout.items'),
    row('DashboardLayout.boards', all, read, unarranged, constant('{ dashboardLayout { boards { id } } }'), 'dashboardLayout.boards'),
    row('DashboardBoard.items', all, read, unarranged, constant('{ dashboardLayout { boards { items { app } } } }'), 'dashboardLayout.boards.items'),
    row('Query.organizationLayout', read, unrelated, byScopeEachTheirOwn, constant('{ organizationLayout { version } }'), 'organizationLayout'),
    row(
      'Mutation.updateDashboardLayout',
      all,
      read,
      people,
      change('updateDashboardLayout', () => 'items: []', 'version'),
      'updateDashboardLayout',
    ),
    row('Mutation.resetDashboardLayout', all, read, people, constant('mutation { resetDashboardLayout(input: {}) { version } }'), 'resetDashboardLayout'),
    row(
      'Mutation.updateOrganizationLayout',
      all,
      read,
      managersAlone,
      change('updateOrganizationLayout', () => 'items: []', 'version'),
      'updateOrganizationLayout',
    ),
  ],
  routes: [
    { at: `GET ${api}`, scopes: all, less: read, cells: people, path: () => api },
    { at: `PUT ${api}`, scopes: all, less: read, cells: people, path: () => api, body: () => layout },
    { at: `DELETE ${api}`, scopes: all, less: read, cells: people, path: () => api },
    { at: `GET ${api}/organization`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/organization` },
    { at: `PUT ${api}/organization`, scopes: all, less: read, cells: managersAlone, path: () => `${api}/organization`, body: () => layout },
  ],
}
