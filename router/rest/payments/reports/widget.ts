import { nounRoutes } from '../../derive/route.ts'

export const widgetRows = nounRoutes({ routes: { 'GET /api/widget': 'paymentsWidget' } })
