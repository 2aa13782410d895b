import type { Scope } from '../../../../subgraphs/scopes.ts'
import { type AccessRows, all, byScopeEachTheirOwn, byScopeNoneElsewhere, constant, figures, people, publicRoute, row, widgets } from '../../../access/row.ts'

const widgetsAndFigures: readonly Scope[] = ['launcher:widgets.read', 'publishing:dashboard.read']

//                       anonymous key     other   viewer  member  owner   outsider
const allIsWell /*  */ = 'refused nothing refused nothing nothing nothing empty'

export const access: AccessRows = {
  fields: [
    row('Query.widgets', widgetsAndFigures, figures, byScopeNoneElsewhere, constant('{ widgets { id } }'), 'widgets'),
    row('Subscription.widgetUpdated', widgets, figures, byScopeEachTheirOwn, constant('subscription { widgetUpdated { id } }'), 'widgetUpdated'),
    row('Widget.failure', widgetsAndFigures, figures, allIsWell, constant('{ widgets { failure { code } } }'), 'widgets.failure'),
    row('Widget.overview', widgetsAndFigures, figures, allIsWell, constant('{ widgets { overview { summary } } }'), 'widgets.overview'),
    row('Subscription.ownWidgetUpdated', all, figures, people, constant('subscription { ownWidgetUpdated { id } }'), 'ownWidgetUpdated'),
  ],
  routes: [
    { at: 'POST /launcher/api/widgets', scopes: widgets, less: figures, cells: byScopeEachTheirOwn, path: () => '/launcher/api/widgets' },
    { at: 'GET /launcher/api/widgets/keys', scopes: widgets, less: figures, cells: publicRoute, path: () => '/launcher/api/widgets/keys' },
    { at: 'POST /launcher/api/widgets/changed', scopes: widgets, less: figures, cells: publicRoute, path: () => '/launcher/api/widgets/changed', signed: true },
  ],
}
