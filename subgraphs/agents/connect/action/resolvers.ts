import { DomainError } from '../../../../platform/errors.ts'
import { newId } from '../../../../platform/ids.ts'
import { create } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { isObject } from '../../engines/connect/json.ts'
import { requireTool } from '../../engines/connect/require.ts'
import { requirePolicyService } from '../../engines/policy/require.ts'
import { announceRun, announceWidget } from '../../engines/run/announce.ts'
import { requireReleased } from '../../engines/run/kill-switch.ts'
import { limits } from '../../engines/run/plan.ts'
import { newRun } from '../../engines/run/start.ts'
import type { ExecuteActionInput, Resolvers } from '../../resolvers.generated.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { PlanStep } from '../../stores/workflow.ts'
import { requireMembers } from '../../workflow/members.ts'
import { readGate, readJson, readTool } from '../../workflow/plan.ts'

/** The one step of an action. The arguments are the run's input, so that no text in them is taken for a template. */
const actionStep = (input: ExecuteActionInput): PlanStep => ({
  ...{ key: 'action', kind: 'TOOL', title: null, next: null, otherwise: null, arguments: '{{input}}', ...readTool(input, '') },
  gate: input.gate ? readGate(input.gate, 'TOOL', 'gate') : null,
  ...{ timeoutSeconds: limits.timeout.usual, retries: limits.retries.usual },
  ...{ agentId: null, prompt: null, seconds: null, condition: null, workflowId: null, text: null },
})

/** Begins a run of one step; once for each key. */
async function executeAction(context: Context, input: ExecuteActionInput): Promise<RunRow> {
  const { viewer, connectors, runs, plans, policy, runner, events } = context
  const organizationId = activeOrganization(viewer, 'Actions')
  const connector = await connectors.require(input.connectorId, 'connectorId')
  const given = readJson(input.arguments ?? {}, 'arguments')
  if (!isObject(given)) throw new DomainError('BAD_USER_INPUT', 'arguments: the arguments of a tool are an object.', { field: 'arguments' })
  const step = actionStep(input)
  if (requireTool(connector, step, '').permission === 'DENY')
    throw new DomainError('FORBIDDEN', `The tool ${step.tool} may not be called in this organization.`, { reason: 'NOT_PERMITTED' })
  await requireMembers(context, step.gate, 'gate')
  const createdBy = actorOf(viewer)
  if (step.counterparty !== null || connector.counterparty !== null) requirePolicyService(policy)
  const { row } = await create(context, {
    of: runs,
    once: input,
    tenantId: organizationId,
    async run({ now, transaction }, id) {
      await requireReleased(context, organizationId, null, transaction)
      const plan = await plans.insert({ id: newId(now), organizationId, workflowId: null, number: 1, steps: [step], createdAt: now, createdBy }, transaction)
      const begins = { organizationId, workflowId: null, planId: plan.id, trigger: 'OPERATOR', input: given } as const
      return newRun(id, { ...begins, startedById: personOf(createdBy), createdBy }, now)
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'action.executed', subjectId: id, details: { connectorId: connector.id, tool: step.tool } }),
    announce(run) {
      announceRun(events, run)
      announceWidget(events, organizationId)
      runner.soon()
    },
  })
  return row
}

export const actionResolvers: Resolvers = {
  Mutation: { executeAction: (_, { input }, context) => executeAction(context, input) },
}
