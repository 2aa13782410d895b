import { newId } from '../../../../platform/ids.ts'
import { hashOfAction } from '../../../../subgraphs/agents/engines/run/canonical.ts'
import { stepIdOf } from '../../../../subgraphs/agents/engines/run/records.ts'
import { freshHook } from '../../../../subgraphs/agents/stores/hook.ts'
import type { RunStatus } from '../../../../subgraphs/agents/stores/run/run.ts'
import type { StepStatus } from '../../../../subgraphs/agents/stores/run/step.ts'
import type { PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { gate, planStep } from '../../../rules/agents/plans.ts'

type Where = Pick<Supergraph, 'clock' | 'platform'>

/** A published workflow, past every rule. @returns its id and its plan's */
export async function seedWorkflow(
  { clock, platform }: Where,
  { organizationId, steps = [planStep('REPORT', 'note', { text: 'Noted.' })] }: { organizationId: string; steps?: readonly PlanStep[] },
): Promise<{ readonly id: string; readonly planId: string }> {
  const now = clock.now()
  const [id, planId] = [newId(now), newId(now)]
  const job = platform.agents.job('user:seed')
  const stamps = { createdAt: now, createdBy: 'user:seed' }
  await inTransaction(job, async ({ transaction }) => {
    await job.plans.insert({ id: planId, organizationId, workflowId: id, number: 1, steps, ...stamps }, transaction)
    const workflow = { id, organizationId, name: 'A plan', trigger: { kind: 'MANUAL', event: null }, draft: steps, status: 'PUBLISHED' } as const
    await job.workflows.insert({ ...workflow, publishedPlanId: planId, plans: 1, ...stamps, updatedAt: now }, transaction)
  })
  return { id, planId }
}

/** A published workflow whose runs a hook begins. */
export async function seedHooked({ clock, platform }: Where, { organizationId }: { organizationId: string }): Promise<{ readonly id: string }> {
  const now = clock.now()
  const job = platform.agents.job('user:seed')
  const { id } = await seedWorkflow({ clock, platform }, { organizationId })
  await inTransaction(job, async ({ transaction }) => {
    const workflow = await job.workflows.lock(id, transaction)
    await job.workflows.update(workflow!, { trigger: { kind: 'WEBHOOK', event: null, signed: false } }, transaction)
    const stamps = { createdAt: now, updatedAt: now, createdBy: 'user:seed' }
    await job.workflowHooks.insert({ id, organizationId, ...freshHook(job.connect.cipher, id).columns, ...stamps }, transaction)
  })
  return { id }
}

/**
 * A run that nothing takes on, with one step, an approval that waits, a report and a line of the feed.
 * @param states     of the run, and of its step
 * @param otherRunId what it names as its parent, and as its step's child
 */
export async function seedRun(
  graph: Where,
  { organizationId, userId }: { organizationId: string; userId: string },
  [status, stepStatus]: readonly [RunStatus, StepStatus] = ['WAITING_APPROVAL', 'WAITING'],
  otherRunId: string | null = null,
): Promise<{ readonly id: string; readonly stepId: string; readonly approvalId: string; readonly reportId: string; readonly workflowId: string }> {
  const steps = [
    planStep('APPROVAL', 'ask', { gate: gate(), condition: { left: 1, operator: 'EQUALS', right: 1 } }),
    planStep('DELAY', 'wait', { seconds: 60 }),
  ]
  const workflow = await seedWorkflow(graph, { organizationId, steps })
  const now = graph.clock.now()
  const [id, approvalId, reportId] = [newId(now), newId(now), newId(now)]
  const stepId = stepIdOf(id, 'ask')
  const createdBy = `user:${userId}`
  const job = graph.platform.agents.job(createdBy)
  const stamps = { createdAt: now, updatedAt: now, createdBy }
  const failed = status === 'FAILED' && ({ failureCode: 'APPROVAL_REJECTED', failureMessage: 'A person has rejected this step.' } as const)
  await inTransaction(job, async ({ transaction }) => {
    const run = {
      id,
      organizationId,
      workflowId: workflow.id,
      planId: workflow.planId,
      status,
      trigger: 'MANUAL',
      startedById: userId,
      parentId: otherRunId,
    } as const
    await job.runs.insert({ ...run, ...(failed && { ...failed, failureStepKey: 'ask' }), ...stamps }, transaction)
    const step = {
      runId: id,
      id: stepId,
      organizationId,
      key: 'ask',
      kind: 'APPROVAL',
      status: stepStatus,
      phase: 'GATE',
      attempt: 1,
      approvalId,
      childRunId: otherRunId,
    } as const
    await job.steps.insert({ ...step, ...failed, startedAt: now, ...stamps }, transaction)
    const asked = { id: approvalId, organizationId, runId: id, stepId, kind: 'QUESTION', title: 'May it?', risk: 'LOW', arguments: {} } as const
    const rules = { allowed: ['APPROVE', 'REJECT'], onExpiry: 'REJECT', expiresAt: new Date(now.getTime() + 600_000) } as const
    const decisions = [{ decision: 'APPROVE', actor: createdBy, comment: null, arguments: {}, at: now.toISOString() }] as const
    const argumentsHash = hashOfAction({ connectorId: null, tool: null, counterparty: null, arguments: {} })
    await job.approvals.insert({ ...asked, ...rules, argumentsHash, decisions, ...stamps }, transaction)
    await job.reports.insert({ id: reportId, organizationId, workflowId: workflow.id, title: 'A report', text: 'Noted.', runId: id, ...stamps }, transaction)
    await job.reports.addVersion({ id: reportId, version: 1, text: 'Noted.' } as never, now, transaction)
    await job.workFeed.insert(
      { organizationId, id: newId(now), at: now, kind: 'APPROVAL_REQUESTED', title: 'A run', actor: createdBy, userId, runId: id, approvalId },
      transaction,
    )
  })
  return { id, stepId, approvalId, reportId, workflowId: workflow.id }
}
