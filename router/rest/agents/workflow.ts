import { nounRoutes } from '../derive/route.ts'
import type { Row } from '../row.ts'

const gate = 'title description risk allowed expiresInSeconds onExpiry escalateAfterSeconds approvers required'
const step = `key kind title next otherwise timeoutSeconds retries arguments gate { ${gate} } seconds condition { left operator right } workflowId list itemName concurrency onItemFailure text`

export const workflowRows = nounRoutes({
  select: {
    Workflow: `
      id name description status trigger { kind event cron timeZone signed } draft { number steps { ${step} } } published { number steps { ${step} } }
      version createdAt updatedAt`,
  },
  routes: {
    'GET /api/workflows': { run: 'workflows', select: 'id name description status trigger { kind event cron timeZone signed } version createdAt updatedAt' },
    'POST /api/workflows': 'createWorkflow',
    'GET /api/workflows/:id': 'workflow',
    'PUT /api/workflows/:id': 'updateWorkflow',
    'DELETE /api/workflows/:id': 'archiveWorkflow',
    'POST /api/workflows/:id/publish': { run: 'publishWorkflow', mayBeEmpty: true },
    'POST /api/workflows/:id/hook': {
      ...{ run: 'rotateWorkflowHook', select: 'workflow { id hook { url signed createdAt } } secret', status: 200 },
      ...{ mayBeEmpty: true, noStore: true },
    },
  },
})

export const hookRows: readonly Row[] = [
  {
    ...{ kind: 'forward', method: 'POST', path: '/api/hooks/:code', limit: 256 * 1024, to: 'agents', why: 'raw body' },
    access: { public: 'The address is the credential, 256 random bits; where the hook is signed, the signature is another.' },
    describes: [
      {
        name: 'callWorkflowHook',
        does: 'Begins a run of a published workflow with the body as its input. A repeated `webhook-id`, or `Idempotency-Key` of a hook without signatures, leads to the same run for 24 hours. 429 above 60 a minute.',
        params: { code: 'Secret part of the hook’s address.' },
        body: { schema: { description: 'Any JSON.' } },
        refuses: [401, 404, 409, 429],
        answers: {
          202: { description: 'The run.', schema: { type: 'object', properties: { runId: { type: 'string', format: 'uuid' } }, required: ['runId'] } },
        },
      },
    ],
  },
]
