import { type AccessRows, byScopeEachTheirOwn, constant, payingFigures, row, widgets } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [row('Query.paymentsWidget', payingFigures, widgets, byScopeEachTheirOwn, constant('{ paymentsWidget { statistics { key } } }'), 'paymentsWidget')],
  routes: [{ at: 'GET /payments/api/widget', scopes: payingFigures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/payments/api/widget' }],
}
