import { requireName } from '../../../../platform/ids.ts'
import type { AuditLine } from '../../../store/books.ts'
import { change, create, remove } from '../../../store/write.ts'
import { actorOf, personOf } from '../../../viewer.ts'
import { requireMayChange } from '../../action-item/rules.ts'
import { requireOwner } from '../../catalog/installation/resolvers.ts'
import type { Context } from '../../context.ts'
import type {
  CreateLauncherWorkflowInput,
  DeleteLauncherWorkflowInput,
  Resolvers,
  RunLauncherWorkflowInput,
  UpdateLauncherWorkflowInput,
} from '../../resolvers.generated.ts'
import type { LauncherWorkflowRow } from '../../stores/workflow.ts'
import { launch } from '../launch.ts'
import { limits, readSteps, requireMayWrite, requireRoom, stepAt } from './rules.ts'

/** What keys and services need: without it they are told so before a workflow is looked for. */
const writeScope = 'launcher:workflows.write'

const lineOf = (action: `launcher_workflow.${string}`, { id, organizationId, userId, shared }: LauncherWorkflowRow): AuditLine => ({
  tenantId: organizationId ?? userId!,
  action,
  subjectId: id,
  details: { shared },
})

async function createWorkflow(context: Context, input: CreateLauncherWorkflowInput): Promise<LauncherWorkflowRow> {
  const { viewer, workflows, isDevelopment } = context
  const { organizationId, userId: person } = requireOwner(viewer)
  const whose = { organizationId, userId: viewer.userId, shared: input.shared ?? false }
  requireMayWrite(viewer, null, whose)
  const [name, steps] = [requireName(input.name, 'name', limits.name), readSteps(input.steps, isDevelopment)]
  const { row } = await create(context, {
    of: workflows,
    once: input,
    tenantId: organizationId ?? person!,
    async run({ transaction, now }, id) {
      requireRoom(await workflows.countBeside(whose, transaction))
      return { id, ...whose, name, steps, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
    },
    audit: row => lineOf('launcher_workflow.created', row),
  })
  return row
}

function updateWorkflow(context: Context, { id, expectedVersion, ...input }: UpdateLauncherWorkflowInput): Promise<LauncherWorkflowRow> {
  const { viewer, workflows, isDevelopment } = context
  requireMayChange(viewer, writeScope)
  const name = typeof input.name === 'string' ? requireName(input.name, 'name', limits.name) : null
  const steps = input.steps ? readSteps(input.steps, isDevelopment) : null
  return change(context, {
    of: workflows,
    id,
    expectedVersion,
    async decide(before, { transaction }) {
      const after = { ...before, shared: input.shared ?? before.shared, name: name ?? before.name, steps: steps ?? before.steps }
      requireMayWrite(viewer, before, after)
      if (before.shared !== after.shared) requireRoom(await workflows.countBeside(after, transaction))
      return { shared: after.shared, name: after.name, steps: after.steps }
    },
    audit: ({ after }) => lineOf('launcher_workflow.updated', after),
  })
}

function deleteWorkflow(context: Context, { id, expectedVersion }: DeleteLauncherWorkflowInput): Promise<LauncherWorkflowRow> {
  requireMayChange(context.viewer, writeScope)
  return remove(context, {
    of: context.workflows,
    id,
    expectedVersion,
    decide: before => requireMayWrite(context.viewer, before, before),
    audit: row => lineOf('launcher_workflow.deleted', row),
  })
}

/** Takes one step: what it leads to is looked up, or made, now. */
async function runWorkflow(context: Context, input: RunLauncherWorkflowInput) {
  const position = input.position ?? 1
  const { steps } = await context.workflows.require(input.id)
  const { step, next } = stepAt(steps, position)
  const { kind, title, app, returnTo, actionKind, url } = step
  const wanted = { app: app!, returnTo, source: 'WORKFLOW', platform: input.platform ?? 'WEB' } as const
  return {
    ...{ position, kind, title, url, next },
    launch: kind === 'LAUNCH' ? await launch(context, wanted, input) : null,
    actionItem: kind === 'ACTION' ? await context.actionItems.newestOpen(actionKind!, app) : null,
  }
}

export const workflowResolvers: Resolvers = {
  Query: {
    launcherWorkflow: (_, { id }, { workflows }) => workflows.require(id),
    launcherWorkflows: (_, page, { workflows }) => workflows.filtered({}, page),
  },
  Mutation: {
    createLauncherWorkflow: (_, { input }, context) => createWorkflow(context, input),
    updateLauncherWorkflow: (_, { input }, context) => updateWorkflow(context, input),
    deleteLauncherWorkflow: (_, { input }, context) => deleteWorkflow(context, input),
    runLauncherWorkflow: (_, { input }, context) => runWorkflow(context, input),
  },
  LauncherWorkflow: {
    __resolveReference: ({ id }, { workflows }) => workflows.byId.load(id),
    steps: ({ steps }) => [...steps],
    createdBy({ createdBy }) {
      const id = personOf(createdBy)
      return id === null ? null : { __typename: 'User', id }
    },
  },
}
