import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, change, constant, people, row } from '../../../../access/row.ts'

const read: readonly Scope[] = ['launcher:settings.read']
const write: readonly Scope[] = ['launcher:settings.write']
const unrelated: readonly Scope[] = ['launcher:widgets.read']
//                                   anonymous key other   viewer  member  owner outsider
const writers /*               */ = 'refused yes refused refused refused yes   yes'
// A key has no settings of its own.
const ofPersons = byScopeEachTheirOwn.replace('yes', 'nothing')

const api = '/launcher/api/settings'

export const access: AccessRows = {
  fields: [
    row('Query.launcherSettings', read, unrelated, byScopeEachTheirOwn, constant('{ launcherSettings { organization { version } } }'), 'launcherSettings'),
    row('LauncherSettings.person', read, unrelated, ofPersons, constant('{ launcherSettings { person { version } } }'), 'launcherSettings.person'),
    row(
      'Mutation.updatePersonSettings',
      all,
      read,
      people,
      change('updatePersonSettings', () => 'theme: DARK', 'person { version }'),
      'updatePersonSettings',
    ),
    row(
      'Mutation.updateOrganizationSettings',
      write,
      read,
      writers,
      change('updateOrganizationSettings', () => 'defaultStartPage: "/apps"', 'organization { version }'),
      'updateOrganizationSettings',
    ),
  ],
  routes: [
    {
      ...{ at: `GET ${api}/person`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn.replace('yes', 'hidden') },
      path: () => `${api}/person`,
    },
    { at: `PUT ${api}/person`, scopes: all, less: read, cells: people, path: () => `${api}/person`, body: () => ({ theme: 'dark' }) },
    { at: `GET ${api}/organization`, scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path: () => `${api}/organization` },
    {
      ...{ at: `PUT ${api}/organization`, scopes: write, less: read, cells: writers, path: () => `${api}/organization` },
      body: () => ({ defaultStartPage: '/apps' }),
    },
  ],
}
