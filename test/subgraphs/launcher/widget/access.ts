import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, byScopeEachTheirOwn, constant, figures, row, widgets } from '../../../access/row.ts'

const widgetsAndFigures: readonly Scope[] = ['launcher:widgets.read', 'publishing:dashboard.read']

export const access: AccessRows = {
  fields: [
    row('Query.widgets', widgetsAndFigures, figures, byScopeEachTheirOwn, constant('{ widgets { id } }'), 'widgets'),
    row('Subscription.widgetUpdated', widgets, figures, byScopeEachTheirOwn, constant('subscription { widgetUpdated { id } }'), 'widgetUpdated'),
  ],
}
