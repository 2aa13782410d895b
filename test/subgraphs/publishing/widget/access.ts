import { type AccessRows, byScopeEachTheirOwn, byScopeNoneElsewhere, constant, figures, row, widgets } from '../../../access/row.ts'

const noLine = 'refused nothing refused nothing nothing nothing nothing'

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
    // Publishing draws no line yet: who may see the widget sees that there is none.
    row('WidgetPayload.chart', figures, widgets, noLine, constant('{ publishingWidget { chart { title } } }'), 'publishingWidget.chart'),
    row('WidgetChart.points', figures, widgets, noLine, constant('{ publishingWidget { chart { points { label } } } }'), 'publishingWidget.chart.points'),
  ],
  routes: [{ at: 'GET /publishing/api/widget', scopes: figures, less: widgets, cells: byScopeEachTheirOwn, path: () => '/publishing/api/widget' }],
}
