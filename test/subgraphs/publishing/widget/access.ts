import { type AccessRows, byScopeEachTheirOwn, byScopeNoneElsewhere, constant, figures, row, widgets } from '../../../access/row.ts'

export const access: AccessRows = {
  fields: [
    row('Query.publishingWidget', figures, widgets, byScopeEachTheirOwn, constant('{ publishingWidget { statistics { key } } }'), 'publishingWidget'),
    row('WidgetPayload.items', figures, widgets, byScopeNoneElsewhere, constant('{ publishingWidget { items { id } } }'), 'publishingWidget.items'),
    row(
      'WidgetPayload.nextAction',
      figures,
      widgets,
      'refused yes refused yes yes yes nothing',
      constant('{ publishingWidget { nextAction { url } } }'),
      'publishingWidget.nextAction',
    ),
  ],
  routes: [{ at: 'GET /publishing/api/widget', scopes: figures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/publishing/api/widget' }],
}
