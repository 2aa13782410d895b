import { nounRoutes } from '../derive/route.ts'

const fields = `
  id workflowId: workflow { id } status trigger input output failure { code message stepKey } parentId: parent { id } itemIndex
  startedById: startedBy { id } createdAt startedAt finishedAt version`
const steps =
  'steps { id key kind status attempt input output failure { code message } approvalId: approval { id } childRunId: childRun { id } startedAt finishedAt }'

export const runRows = nounRoutes({
  select: { Run: fields },
  routes: {
    'GET /api/runs': 'runs',
    'POST /api/runs': { run: 'startRun', status: 201, location: '/agents/api/runs/{id}' },
    'GET /api/runs/:id': { run: 'run', select: `${fields} ${steps}` },
    'POST /api/runs/:id/cancel': { run: 'cancelRun', mayBeEmpty: true },
    'POST /api/runs/:id/retry': { run: 'retryRun', mayBeEmpty: true },
    'POST /api/workflows/:id/test': { run: 'testRun', names: { workflowId: 'id' }, status: 201, location: '/agents/api/runs/{id}', mayBeEmpty: true },
    'POST /api/runs/:id/replay': {
      ...{ run: 'replayRun', names: { runId: 'id' }, select: 'runId planNumber steps { key same before after }', mayBeEmpty: true, status: 200 },
    },
  },
})
