import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, constant, row } from '../../../../access/row.ts'

const read: readonly Scope[] = ['launcher:dashboard.read']
const unrelated: readonly Scope[] = ['launcher:widgets.read']
const path = () => '/launcher/api/widget'

export const access: AccessRows = {
  fields: [row('Query.launcherWidget', read, unrelated, byScopeEachTheirOwn, constant('{ launcherWidget { statistics { key } } }'), 'launcherWidget')],
  routes: [{ at: 'GET /launcher/api/widget', scopes: read, less: unrelated, cells: byScopeEachTheirOwn, path }],
}
