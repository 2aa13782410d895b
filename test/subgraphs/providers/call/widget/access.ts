import type { Scope } from '../../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, constant, row, widgets } from '../../../../access/row.ts'

const usage: readonly Scope[] = ['providers:usage.read']

export const access: AccessRows = {
  fields: [row('Query.providersWidget', usage, widgets, byScopeEachTheirOwn, constant('{ providersWidget { statistics { key } } }'), 'providersWidget')],
  routes: [{ at: 'GET /providers/api/widget', scopes: usage, less: widgets, cells: byScopeEachTheirOwn, path: () => '/providers/api/widget' }],
}
