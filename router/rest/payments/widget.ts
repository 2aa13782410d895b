import { operationRow, type Row } from '../row.ts'
import { RestPaymentsWidgetDocument } from './widget.generated.ts'

export const widgetRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/widget',
    operation: RestPaymentsWidgetDocument,
    variables: () => ({}),
    reply: ({ paymentsWidget }) => paymentsWidget && { body: paymentsWidget },
  }),
]
