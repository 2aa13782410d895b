import { nounRoutes } from '../derive/route.ts'

const items = 'items { app order size hidden }'

export const layoutRows = nounRoutes({
  select: { DashboardLayout: `${items} boards { id name ${items} } inherited version` },
  routes: {
    'GET /api/layout': 'dashboardLayout',
    'PUT /api/layout': 'updateDashboardLayout',
    'DELETE /api/layout': { run: 'resetDashboardLayout', status: 200, select: `${items} boards { id name ${items} } inherited version` },
    'GET /api/layout/organization': 'organizationLayout',
    'PUT /api/layout/organization': 'updateOrganizationLayout',
  },
})
