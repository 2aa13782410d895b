import { operationRow, type Row } from '../row.ts'
import { RestPublishingWidgetDocument } from './widget.generated.ts'

export const widgetRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/widget',
    operation: RestPublishingWidgetDocument,
    variables: () => ({}),
    reply: ({ publishingWidget }) => publishingWidget && { body: publishingWidget },
  }),
]
