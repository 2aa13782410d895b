import { expect } from 'vitest'
import { hashOfAction } from '../../../subgraphs/agents/engines/run/canonical.ts'
import type { RunStatus } from '../../../subgraphs/agents/stores/run/run.ts'
import type { StepStatus } from '../../../subgraphs/agents/stores/run/step.ts'
import { seedHooked, seedRun, seedWorkflow } from '../../subgraphs/agents/workflow/seed.ts'
import { type Exchanges, list, made } from './exchange.ts'

const [workflows, runs, approvals, tasks] = ['workflows', 'runs', 'approvals', 'tasks'].map(name => `/agents/api/${name}`) as [string, string, string, string]
const argumentsHash = hashOfAction({ connectorId: null, tool: null, counterparty: null, arguments: {} })

/** Workflows, runs, approvals, and what work brings forth. */
export const work: Exchanges = world => {
  const aWorkflow = async () => (await seedWorkflow(world().graph, world())).id
  const seeded = (...states: readonly [RunStatus, StepStatus]) => seedRun(world().graph, { ...world(), userId: world().owner.userId! }, states)
  const aRun =
    (...states: readonly [RunStatus, StepStatus]) =>
    async () =>
      (await seeded(...states)).id
  const waiting = ['WAITING_APPROVAL', 'WAITING'] as const
  const anApproval = async () => (await seeded(...waiting)).approvalId
  const aTask = async () => (await world().ask('owner', 'POST', tasks, { title: 'Look at it' })).json.id as string
  return {
    // First, while there is one report, one run and one approval.
    'GET /agents/api/reports/:id': {
      path: id => `/agents/api/reports/${id}`,
      make: async () => (await seeded(...waiting)).reportId,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, title: 'A report', versions: [{ version: 1, text: 'Noted.' }] } }),
    },
    [`GET ${approvals}`]: { path: () => `${approvals}?status=pending`, forbidden: 'reader', answers: list('approvals') },
    [`GET ${runs}`]: { path: () => `${runs}?status=waiting_approval`, forbidden: 'reader', answers: list('runs') },
    'GET /agents/api/reports': { path: () => '/agents/api/reports', forbidden: 'reader', answers: list('reports') },
    [`POST ${workflows}`]: {
      path: () => workflows,
      body: () => ({ name: 'Announce', trigger: { kind: 'manual' }, steps: [{ key: 'note', kind: 'report', text: 'Noted.' }] }),
      forbidden: 'viewer',
      answers: made(workflows),
    },
    [`GET ${workflows}`]: { path: () => `${workflows}?status=draft`, forbidden: 'reader', answers: list('workflows') },
    [`GET ${workflows}/:id`]: {
      path: id => `${workflows}/${id}`,
      make: aWorkflow,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, status: 'published', published: { number: 1 } } }),
    },
    [`PUT ${workflows}/:id`]: {
      path: id => `${workflows}/${id}`,
      make: aWorkflow,
      body: () => ({ name: 'Another name' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, name: 'Another name', version: 2 } }),
    },
    [`DELETE ${workflows}/:id`]: { path: id => `${workflows}/${id}`, make: aWorkflow, forbidden: 'viewer', answers: () => ({ status: 204, text: '' }) },
    [`POST ${workflows}/:id/publish`]: {
      path: id => `${workflows}/${id}/publish`,
      make: aWorkflow,
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, published: { number: 2 } } }),
    },
    [`POST ${workflows}/:id/hook`]: {
      path: id => `${workflows}/${id}/hook`,
      make: async () => (await seedHooked(world().graph, world())).id,
      forbidden: 'viewer',
      answers: id => ({
        ...{ status: 200, headers: { 'cache-control': 'no-store' } },
        json: { workflow: { id, hook: { url: expect.stringMatching(/\/agents\/api\/hooks\/[\w-]{43}$/), signed: false } }, secret: null },
      }),
    },
    [`POST ${runs}`]: {
      path: () => runs,
      body: () => ({ workflowId: world().workflowId, input: { size: 3 } }),
      forbidden: 'viewer',
      answers: made(runs),
    },
    [`GET ${runs}/:id`]: {
      path: id => `${runs}/${id}`,
      make: aRun(...waiting),
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, status: 'waiting_approval', steps: [{ key: 'ask' }, { key: 'wait' }] } }),
    },
    [`POST ${runs}/:id/cancel`]: {
      path: id => `${runs}/${id}/cancel`,
      make: aRun(...waiting),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'cancelled' } }),
    },
    [`POST ${runs}/:id/retry`]: {
      path: id => `${runs}/${id}/retry`,
      make: aRun('FAILED', 'FAILED'),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'queued' } }),
    },
    [`POST ${workflows}/:id/test`]: {
      path: id => `${workflows}/${id}/test`,
      make: aWorkflow,
      body: () => ({ input: { size: 3 }, pinned: [{ stepKey: 'note', output: { id: null, text: 'Pinned.' } }] }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, json: { trigger: 'test', status: 'queued' } }),
    },
    [`POST ${runs}/:id/replay`]: {
      path: id => `${runs}/${id}/replay`,
      make: aRun('FAILED', 'FAILED'),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { runId: id, planNumber: 1, steps: [{ key: 'ask' }, { key: 'wait' }] } }),
    },
    [`GET ${approvals}/:id`]: {
      path: id => `${approvals}/${id}`,
      make: anApproval,
      forbidden: 'reader',
      answers: id => ({ status: 200, json: { id, status: 'pending', argumentsHash, runId: expect.any(String), required: 1 } }),
    },
    [`POST ${approvals}/:id/decision`]: {
      path: id => `${approvals}/${id}/decision`,
      make: anApproval,
      body: () => ({ decision: 'approve', argumentsHash, comment: 'Go ahead.' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'approved' } }),
    },
    [`POST ${approvals}/:id/links`]: {
      path: id => `${approvals}/${id}/links`,
      make: anApproval,
      body: () => ({ expiresInSeconds: 60 }),
      forbidden: 'viewer',
      answers: () => ({ status: 201, headers: { 'cache-control': 'no-store' }, json: { url: expect.stringMatching(/agents\/approval\?code=[\w-]{43}$/) } }),
    },
    [`POST ${tasks}`]: { path: () => tasks, body: () => ({ title: 'Call back', body: 'Twice.' }), forbidden: 'viewer', answers: made(tasks) },
    [`GET ${tasks}`]: { path: () => tasks, forbidden: 'reader', answers: list('tasks') },
    [`GET ${tasks}/:id`]: {
      path: id => `${tasks}/${id}`,
      make: aTask,
      forbidden: 'reader',
      answers: id => ({ status: 200, headers: { etag: '"1"' }, json: { id, status: 'open', assigneeId: null } }),
    },
    [`PUT ${tasks}/:id`]: {
      path: id => `${tasks}/${id}`,
      make: aTask,
      body: () => ({ status: 'done' }),
      forbidden: 'viewer',
      answers: id => ({ status: 200, json: { id, status: 'done', version: 2 } }),
    },
    'GET /agents/api/work-feed': { path: () => '/agents/api/work-feed?kind=task_closed', forbidden: 'reader', answers: list('workFeed') },
    'GET /agents/api/workspace': {
      path: () => '/agents/api/workspace',
      forbidden: 'reader',
      answers: () => ({ status: 200, json: { killSwitch: { engaged: false }, version: expect.any(Number) } }),
    },
    'PUT /agents/api/workspace': {
      path: () => '/agents/api/workspace',
      body: () => ({ state: { phase: 'launch' } }),
      forbidden: 'viewer',
      answers: () => ({ status: 200, json: { state: { phase: 'launch' } } }),
    },
  }
}
