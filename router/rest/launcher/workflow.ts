import { nounRoutes } from '../derive/route.ts'

const launch = 'id app title icon status steps { kind url } expiresAt failure { code message retryable retryAfterSeconds }'

export const launcherWorkflowRows = nounRoutes({
  select: {
    LauncherWorkflow: 'id name shared steps { kind title app returnTo actionKind url } createdById: createdBy { id } version',
    LauncherWorkflowStep: `position kind title launch { ${launch} } actionItem { id kind title url } url next`,
  },
  routes: {
    'GET /api/workflows': { run: 'launcherWorkflows', list: 'workflows' },
    'GET /api/workflows/:id': 'launcherWorkflow',
    'POST /api/workflows': 'createLauncherWorkflow',
    'PUT /api/workflows/:id': 'updateLauncherWorkflow',
    'DELETE /api/workflows/:id': 'deleteLauncherWorkflow',
    'POST /api/workflows/:id/run': { run: 'runLauncherWorkflow', mayBeEmpty: true, noStore: true },
  },
})
