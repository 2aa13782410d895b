import { type AccessRows, byScopeEachTheirOwn, constant, row, widgets, workingFigures } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [row('Query.agentsWidget', workingFigures, widgets, byScopeEachTheirOwn, constant('{ agentsWidget { statistics { key } } }'), 'agentsWidget')],
  routes: [{ at: 'GET /agents/api/widget', scopes: workingFigures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/agents/api/widget' }],
}
