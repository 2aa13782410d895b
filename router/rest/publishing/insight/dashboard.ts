import { operationRow, type Row } from '../../row.ts'
import { RestDashboardDocument } from './dashboard.generated.ts'

export const dashboardRows: readonly Row[] = [
  operationRow({
    method: 'GET',
    path: '/api/dashboard',
    operation: RestDashboardDocument,
    query: ['brandId'],
    variables: ({ query }) => query,
    reply: ({ publishingDashboard }) => publishingDashboard && { body: publishingDashboard },
  }),
]
