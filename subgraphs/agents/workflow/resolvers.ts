import { DomainError } from '../../../platform/errors.ts'
import { newId, readText, requireName } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { change, create } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { requireTool } from '../engines/connect/require.ts'
import { announceWidget } from '../engines/run/announce.ts'
import type { CreateWorkflowInput, PublishWorkflowInput, Resolvers, UpdateWorkflowInput } from '../resolvers.generated.ts'
import type { PlanStep, WorkflowRow } from '../stores/workflow.ts'
import { keepHook } from './hook/keep.ts'
import { requireMembers } from './members.ts'
import { readPlan } from './plan.ts'
import { readTrigger, requireInUse, turnAfter, workflowsADay } from './rules.ts'

const maxDescription = 2_000

/** Reads a plan and requires that what it names belongs to the active organization. */
async function readSteps(context: Context, given: CreateWorkflowInput['steps']): Promise<readonly PlanStep[]> {
  const { workflows, agents, connectors } = context
  const steps = readPlan(given ?? [])
  for (const [at, step] of steps.entries()) {
    const { workflowId, agentId, connectorId, gate } = step
    const connector = await connectors.find(connectorId)
    if (connectorId !== null && !connector)
      throw new DomainError('BAD_USER_INPUT', `steps[${at}].connectorId is no connector of the active organization.`, { field: `steps[${at}].connectorId` })
    if (connector) requireTool(connector, step, `steps[${at}].`)
    if (agentId !== null && !(await agents.find(agentId)))
      throw new DomainError('BAD_USER_INPUT', `steps[${at}].agentId is no agent of the active organization.`, { field: `steps[${at}].agentId` })
    if (workflowId !== null && !(await workflows.find(workflowId)))
      throw new DomainError('BAD_USER_INPUT', `steps[${at}].workflowId is no workflow of the active organization.`, { field: `steps[${at}].workflowId` })
    await requireMembers(context, gate, `steps[${at}].gate`)
  }
  return steps
}

async function createWorkflow(context: Context, input: CreateWorkflowInput): Promise<WorkflowRow> {
  const { viewer, workflows, events } = context
  const organizationId = activeOrganization(viewer, 'Workflows')
  const [name, description, trigger] = [
    requireName(input.name, 'name', 200),
    readText(input.description, 'description', maxDescription),
    readTrigger(input.trigger),
  ]
  const draft = await readSteps(context, input.steps)
  // Refuses a schedule that never begins a run; its time is set when the workflow is published.
  await turnAfter(trigger, context.clock.now())
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: workflows,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await workflows.madeBy(createdBy, now, workflowsADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: workflowsADay }, 'workflows that you wrote', 'wait', now)
      await keepHook(context, { id, organizationId, trigger }, { transaction, now })
      return { id, organizationId, name, description, trigger, draft, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'workflow.created', subjectId: id }),
    announce: () => announceWidget(events, organizationId),
  })
  return row
}

async function updateWorkflow(context: Context, { id, expectedVersion, ...input }: UpdateWorkflowInput): Promise<WorkflowRow> {
  const draft = input.steps && (await readSteps(context, input.steps))
  return change(context, {
    of: context.workflows,
    ...{ id, expectedVersion },
    async decide(workflow, unit) {
      requireInUse(workflow, 'update')
      const trigger = input.trigger && readTrigger(input.trigger)
      const nextAt = trigger && (await turnAfter(trigger, unit.now))
      if (trigger) await keepHook(context, { ...workflow, trigger }, unit)
      return {
        ...(typeof input.name === 'string' && { name: requireName(input.name, 'name', 200) }),
        ...(input.description !== undefined && { description: readText(input.description, 'description', maxDescription) }),
        ...(trigger && { trigger, ...(workflow.status === 'PUBLISHED' && { event: trigger.event, nextAt }) }),
        ...(draft && { draft }),
      }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'workflow.updated', subjectId: after.id }),
  })
}

const publishWorkflow = (context: Context, { id, expectedVersion }: PublishWorkflowInput): Promise<WorkflowRow> =>
  change(context, {
    of: context.workflows,
    ...{ id, expectedVersion },
    async decide(workflow, { now, transaction }) {
      requireInUse(workflow, 'publish')
      if (workflow.draft.length === 0) throw new DomainError('CONFLICT', 'The draft has no step: write one before you publish it.', { reason: 'EMPTY_PLAN' })
      const plan = { id: newId(now), organizationId: workflow.organizationId, workflowId: workflow.id, number: workflow.plans + 1 }
      await context.plans.insert({ ...plan, steps: workflow.draft, createdAt: now, createdBy: actorOf(context.viewer) }, transaction)
      const { event } = workflow.trigger
      const nextAt = await turnAfter(workflow.trigger, now)
      return { status: 'PUBLISHED' as const, publishedPlanId: plan.id, plans: plan.number, event, nextAt }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'workflow.published', subjectId: after.id, details: { number: after.plans } }),
    announce: ({ after }) => announceWidget(context.events, after.organizationId),
  })

const archiveWorkflow = (context: Context, { id, expectedVersion }: PublishWorkflowInput): Promise<WorkflowRow> =>
  change(context, {
    of: context.workflows,
    ...{ id, expectedVersion },
    decide: () => ({ status: 'ARCHIVED' as const, event: null, nextAt: null }),
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'workflow.archived', subjectId: after.id }),
    announce: ({ after }) => announceWidget(context.events, after.organizationId),
  })

export const workflowResolvers: Resolvers = {
  Query: {
    workflow: (_, { id }, { workflows }) => workflows.require(id),
    workflows(_, { status, ...page }, { viewer, workflows }) {
      activeOrganization(viewer, 'Workflows')
      return workflows.filtered({ status }, page)
    },
  },
  Mutation: {
    createWorkflow: (_, { input }, context) => createWorkflow(context, input),
    updateWorkflow: (_, { input }, context) => updateWorkflow(context, input),
    publishWorkflow: (_, { input }, context) => publishWorkflow(context, input),
    archiveWorkflow: (_, { input }, context) => archiveWorkflow(context, input),
  },
  Workflow: {
    __resolveReference: ({ id }, { workflows }) => workflows.byId.load(id),
    draft: ({ id, organizationId, draft, plans, updatedAt, createdBy }) => ({
      ...{ id, organizationId, createdBy, workflowId: id, number: plans + 1, steps: draft, createdAt: updatedAt },
    }),
    published: ({ publishedPlanId }, _, { plans }) => plans.find(publishedPlanId),
    runs: ({ id }, page, { runs }) => runs.page('ofWorkflow', id, page),
  },
}
