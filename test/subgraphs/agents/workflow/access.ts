import { hashOfAction } from '../../../../subgraphs/agents/engines/run/canonical.ts'
import type { RunStatus } from '../../../../subgraphs/agents/stores/run/run.ts'
import type { StepStatus } from '../../../../subgraphs/agents/stores/run/step.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import {
  type AccessRows,
  accountants,
  byScope,
  byScopeEachTheirOwn,
  change,
  constant,
  type Fresh,
  type Ids,
  publicRoute,
  type RouteRow,
  row,
  workingFigures,
  writers,
} from '../../../access/row.ts'
import { seedHooked, seedRun, seedWorkflow } from './seed.ts'

const read: readonly Scope[] = ['agents:workflows.read']
const write: readonly Scope[] = ['agents:workflows.write']
const invoke: readonly Scope[] = ['agents:runs.invoke']
const decide: readonly Scope[] = ['agents:approvals.write']
const reports: readonly Scope[] = ['agents:reports.read']
const managersOwn = 'refused yes refused refused refused yes yes'

const freshRun =
  (...states: readonly [RunStatus, StepStatus]): Fresh =>
  async ({ graph, owner }) =>
    (await seedRun(graph, { organizationId: owner.organizationId!, userId: owner.userId! }, states)).id
const freshApproval: Fresh = async ({ graph, owner }) => (await seedRun(graph, { organizationId: owner.organizationId!, userId: owner.userId! })).approvalId
const freshWorkflow: Fresh = async ({ graph, owner }) => (await seedWorkflow(graph, { organizationId: owner.organizationId! })).id
const freshHooked: Fresh = async ({ graph, owner }) => (await seedHooked(graph, { organizationId: owner.organizationId! })).id

const run = (selection: string) => (ids: Ids) => `{ run(id: "${ids.run}") { ${selection} } }`
const approval = (selection: string) => (ids: Ids) => `{ approval(id: "${ids.approval}") { ${selection} } }`
/** A route; `id` names what its path leads to. */
const route = (at: string, scopes: readonly Scope[], less: readonly Scope[], cells: string, id = '', body?: RouteRow['body']): RouteRow => ({
  ...{ at, scopes, less, cells },
  path: ids => at.split(' ')[1]!.replace(':id', ids[id] ?? ''),
  ...(body && { body }),
})
/** The hash of the arguments that seeded approvals have. */
const ofNothing = hashOfAction({ connectorId: null, tool: null, counterparty: null, arguments: {} })

const feed = (selection: string) => constant(`{ workFeed(kind: APPROVAL_REQUESTED) { nodes { ${selection} } } }`)

export const access: AccessRows = {
  async made({ graph, owner, outsider }) {
    await seedRun(graph, { organizationId: outsider.organizationId!, userId: outsider.userId! })
    const whose = { organizationId: owner.organizationId!, userId: owner.userId! }
    const outer = await seedRun(graph, whose)
    // One with everything that a run may lack.
    const { id, stepId, approvalId, reportId, workflowId } = await seedRun(graph, whose, ['FAILED', 'FAILED'], outer.id)
    return { run: id, step: stepId, approval: approvalId, report: reportId, workflow: workflowId }
  },
  fields: [
    row('Query.workflow', read, workingFigures, byScope, ids => `{ workflow(id: "${ids.workflow}") { id } }`, 'workflow'),
    row('Query.workflows', read, workingFigures, byScopeEachTheirOwn, constant('{ workflows { nodes { id } } }'), 'workflows'),
    row(
      'Mutation.createWorkflow',
      write,
      read,
      managersOwn,
      change('createWorkflow', () => 'name: "New", trigger: { kind: MANUAL }', 'id'),
      'createWorkflow',
    ),
    row(
      'Mutation.updateWorkflow',
      write,
      read,
      accountants,
      change('updateWorkflow', ({ fresh }) => `id: "${fresh}", name: "Other"`, 'id'),
      'updateWorkflow',
      freshWorkflow,
    ),
    row(
      'Mutation.publishWorkflow',
      write,
      read,
      accountants,
      change('publishWorkflow', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'publishWorkflow',
      freshWorkflow,
    ),
    row(
      'Mutation.archiveWorkflow',
      write,
      read,
      accountants,
      change('archiveWorkflow', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'archiveWorkflow',
      freshWorkflow,
    ),
    row(
      'Mutation.rotateWorkflowHook',
      write,
      read,
      accountants,
      change('rotateWorkflowHook', ({ fresh }) => `id: "${fresh}"`, 'secret'),
      'rotateWorkflowHook',
      freshHooked,
    ),
    row(
      'WorkflowHookSecret.workflow',
      write,
      read,
      accountants,
      change('rotateWorkflowHook', ({ fresh }) => `id: "${fresh}"`, 'workflow { id }'),
      'rotateWorkflowHook.workflow',
      freshHooked,
    ),
    row(
      'Workflow.hook',
      [...read, ...write],
      read,
      'refused yes nothing nothing nothing yes hidden',
      ({ fresh }) => `{ workflow(id: "${fresh}") { hook { url } } }`,
      'workflow.hook',
      freshHooked,
    ),
    row('Workflow.runs', read, workingFigures, byScope, ids => `{ workflow(id: "${ids.workflow}") { runs { totalCount } } }`, 'workflow.runs'),
    row('Query.run', invoke, decide, byScope, run('id'), 'run'),
    row('Query.runs', invoke, decide, byScopeEachTheirOwn, constant('{ runs { nodes { id } } }'), 'runs'),
    row('Run.workflow', read, invoke, byScope, run('workflow { id }'), 'run.workflow'),
    row('Run.plan', invoke, decide, byScope, run('plan { number }'), 'run.plan'),
    row('Run.steps', invoke, decide, byScope, run('steps { key }'), 'run.steps'),
    row('Run.failure', invoke, decide, byScope, run('failure { code }'), 'run.failure'),
    row('Run.tokens', invoke, decide, byScope, run('tokens { input }'), 'run.tokens'),
    row('Run.startedBy', invoke, decide, byScope, run('startedBy { id }'), 'run.startedBy'),
    row('Step.approval', read, invoke, byScope, run('steps { approval { id } }'), 'run.steps.approval'),
    // The step of the stage calls nothing of another organization, so nobody was asked.
    row('Step.policy', invoke, decide, byScope.replaceAll('yes', 'nothing'), run('steps { policy { requestId } }'), 'run.steps.policy'),
    row(
      'Mutation.startRun',
      invoke,
      read,
      writers,
      change('startRun', ({ fresh }) => `workflowId: "${fresh}"`, 'id'),
      'startRun',
      freshWorkflow,
    ),
    row(
      'Mutation.cancelRun',
      invoke,
      read,
      writers,
      change('cancelRun', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'cancelRun',
      freshRun('WAITING_APPROVAL', 'WAITING'),
    ),
    row(
      'Mutation.retryRun',
      invoke,
      read,
      writers,
      change('retryRun', ({ fresh }) => `id: "${fresh}"`, 'id'),
      'retryRun',
      freshRun('FAILED', 'FAILED'),
    ),
    row(
      'Mutation.resolveStep',
      invoke,
      read,
      writers,
      change('resolveStep', ({ fresh }) => `stepId: "${fresh}", happened: false`, 'id'),
      'resolveStep',
      async ({ graph, owner }) => (await seedRun(graph, { organizationId: owner.organizationId!, userId: owner.userId! }, ['FAILED', 'UNKNOWN'])).stepId,
    ),
    row(
      'Mutation.testRun',
      write,
      read,
      accountants,
      change('testRun', ({ fresh }) => `workflowId: "${fresh}"`, 'id'),
      'testRun',
      freshWorkflow,
    ),
    row(
      'Mutation.replayRun',
      write,
      read,
      accountants,
      change('replayRun', ({ fresh }) => `runId: "${fresh}"`, 'planNumber'),
      'replayRun',
      freshRun('FAILED', 'FAILED'),
    ),
    row(
      'RunComparison.steps',
      write,
      read,
      accountants,
      change('replayRun', ({ fresh }) => `runId: "${fresh}"`, 'steps { key }'),
      'replayRun.steps',
      freshRun('FAILED', 'FAILED'),
    ),
    // The step of the stage is no list step.
    row('Step.childRuns', invoke, decide, byScope.replaceAll('yes', 'nothing'), run('steps { childRuns { totalCount } }'), 'run.steps.childRuns'),
    row('Subscription.runUpdated', invoke, decide, byScope, ids => `subscription { runUpdated(runId: "${ids.run}") { id } }`, 'runUpdated'),
    row('Query.approval', decide, invoke, byScope, approval('id'), 'approval'),
    row('Query.approvals', decide, invoke, byScopeEachTheirOwn, constant('{ approvals { nodes { id } } }'), 'approvals'),
    row('Approval.approvers', decide, invoke, byScope, approval('approvers { id }'), 'approval'),
    row('Approval.run', decide, invoke, byScope, approval('run { id }'), 'approval.run'),
    row('Approval.step', read, decide, byScope, approval('step { id }'), 'approval.step'),
    row('ApprovalDecision.user', decide, invoke, byScope, approval('decisions { user { id } }'), 'approval.decisions.user'),
    row(
      'Mutation.decideApproval',
      decide,
      read,
      accountants,
      change('decideApproval', ({ fresh }) => `id: "${fresh!.split(' ')[0]}", decision: REJECT, argumentsHash: "${fresh!.split(' ')[1]}"`, 'id'),
      'decideApproval',
      async ({ graph, owner }) => {
        const { approvalId } = await seedRun(graph, { organizationId: owner.organizationId!, userId: owner.userId! })
        const [found] = await graph.rows<{ hash: string }>('select arguments_hash as hash from agents.approvals where id = $1', [approvalId])
        return `${approvalId} ${found!.hash}`
      },
    ),
    row(
      'Mutation.createApprovalLink',
      decide,
      read,
      accountants,
      change('createApprovalLink', ({ fresh }) => `approvalId: "${fresh}"`, 'url'),
      'createApprovalLink',
      freshApproval,
    ),
    row('Subscription.approvalUpdated', decide, invoke, byScopeEachTheirOwn, constant('subscription { approvalUpdated { id } }'), 'approvalUpdated'),
    row('Query.report', reports, read, byScope, ids => `{ report(id: "${ids.report}") { id } }`, 'report'),
    row('Query.reports', reports, read, byScopeEachTheirOwn, constant('{ reports { nodes { id } } }'), 'reports'),
    row(
      'Report.run',
      ['agents:reports.read', 'agents:workflows.read'],
      reports,
      byScope,
      ids => `{ report(id: "${ids.report}") { run { id } } }`,
      'report.run',
    ),
    row('Query.workFeed', reports, read, byScopeEachTheirOwn, feed('id'), 'workFeed'),
    row('WorkFeedItem.user', reports, read, byScopeEachTheirOwn, feed('user { id }'), 'workFeed.nodes.user'),
    row('WorkFeedItem.run', ['agents:reports.read', 'agents:workflows.read'], reports, byScopeEachTheirOwn, feed('run { id }'), 'workFeed.nodes.run'),
    row(
      'WorkFeedItem.approval',
      ['agents:reports.read', 'agents:workflows.read'],
      reports,
      byScopeEachTheirOwn,
      feed('approval { id }'),
      'workFeed.nodes.approval',
    ),
  ],
  routes: [
    {
      ...route('POST /agents/api/policy/decisions', invoke, read, publicRoute, '', () => ({ type: 'policy.decided' })),
      // The signature is the credential.
      signed: true,
    },
    route('GET /agents/api/workflows', read, workingFigures, byScopeEachTheirOwn),
    route('POST /agents/api/workflows', write, read, managersOwn, '', () => ({ name: 'New', trigger: { kind: 'manual' } })),
    route('GET /agents/api/workflows/:id', read, workingFigures, byScope, 'workflow'),
    { ...route('PUT /agents/api/workflows/:id', write, read, accountants, 'fresh', () => ({ name: 'Other' })), fresh: freshWorkflow },
    { ...route('DELETE /agents/api/workflows/:id', write, read, accountants, 'fresh'), fresh: freshWorkflow },
    { ...route('POST /agents/api/workflows/:id/publish', write, read, accountants, 'fresh', () => ({})), fresh: freshWorkflow },
    { ...route('POST /agents/api/workflows/:id/hook', write, read, accountants, 'fresh', () => ({})), fresh: freshHooked },
    { ...route('POST /agents/api/hooks/:code', write, read, publicRoute, '', () => ({})), path: () => `/agents/api/hooks/${'A'.repeat(43)}` },
    route('GET /agents/api/runs', read, decide, byScopeEachTheirOwn),
    { ...route('POST /agents/api/runs', [...invoke, ...read], read, writers, '', ({ fresh }) => ({ workflowId: fresh })), fresh: freshWorkflow },
    route('GET /agents/api/runs/:id', read, decide, byScope, 'run'),
    {
      ...route('POST /agents/api/runs/:id/cancel', [...invoke, ...read], read, writers, 'fresh', () => ({})),
      fresh: freshRun('WAITING_APPROVAL', 'WAITING'),
    },
    { ...route('POST /agents/api/workflows/:id/test', [...write, ...invoke], read, accountants, 'fresh', () => ({})), fresh: freshWorkflow },
    { ...route('POST /agents/api/runs/:id/replay', write, read, accountants, 'fresh', () => ({})), fresh: freshRun('FAILED', 'FAILED') },
    { ...route('POST /agents/api/runs/:id/retry', [...invoke, ...read], read, writers, 'fresh', () => ({})), fresh: freshRun('FAILED', 'FAILED') },
    route('GET /agents/api/approvals', read, invoke, byScopeEachTheirOwn),
    route('GET /agents/api/approvals/:id', read, invoke, byScope, 'approval'),
    {
      ...route('POST /agents/api/approvals/:id/decision', decide, read, accountants, 'fresh', () => ({ decision: 'reject', argumentsHash: ofNothing })),
      fresh: freshApproval,
    },
    { ...route('POST /agents/api/approvals/:id/links', decide, read, accountants, 'fresh', () => ({})), fresh: freshApproval },
    route('GET /agents/approval', decide, invoke, publicRoute),
    route('POST /agents/api/approvals/link', decide, invoke, publicRoute, '', () => ({})),
    route('GET /agents/api/reports', reports, read, byScopeEachTheirOwn),
    route('GET /agents/api/reports/:id', reports, read, byScope, 'report'),
    route('GET /agents/api/work-feed', reports, read, byScopeEachTheirOwn),
  ],
}
