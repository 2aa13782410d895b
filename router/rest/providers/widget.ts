import { operationRow, type Row } from '../row.ts'
import { RestProvidersWidgetDocument } from './widget.generated.ts'

export const widgetRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/widget',
    operation: RestProvidersWidgetDocument,
    variables: () => ({}),
    reply: ({ providersWidget }) => providersWidget && { body: providersWidget },
  }),
]
