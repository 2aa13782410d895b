import { operationRow, type Row } from '../row.ts'
import { RestAgentsWidgetDocument } from './widget.generated.ts'

export const widgetRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/widget',
    operation: RestAgentsWidgetDocument,
    variables: () => ({}),
    reply: ({ agentsWidget, service }) => agentsWidget && { body: { ...agentsWidget, serviceId: service?.id ?? null } },
  }),
]
