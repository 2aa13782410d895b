import { DomainError } from '../../../../platform/errors.ts'
import { newId, requireId } from '../../../../platform/ids.ts'
import { create } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { compareRun } from '../../engines/replay/replay.ts'
import { announceRun } from '../../engines/run/announce.ts'
import { requireReleased } from '../../engines/run/kill-switch.ts'
import { newRun } from '../../engines/run/start.ts'
import { isOver } from '../../engines/run/state.ts'
import type { ReplayRunInput, TestRunInput } from '../../resolvers.generated.ts'
import type { Pinned, RunRow } from '../../stores/run/run.ts'
import type { PlanRow, PlanStep, WorkflowRow } from '../../stores/workflow.ts'
import { readJson } from '../plan.ts'
import { requireInUse } from '../rules.ts'
import { stepsInOrder } from './rules.ts'

/** Reads pinned outputs, each of a step of the draft. @throws BAD_USER_INPUT with the field, such as `pinned[0].stepKey` */
function readPinned(given: TestRunInput['pinned'], draft: readonly PlanStep[]): readonly Pinned[] {
  const list = given ?? []
  const pinned = list.map(({ stepKey, output }, at) => {
    const isTwice = list.findIndex(each => each.stepKey === stepKey) !== at
    if (isTwice || !draft.some(({ key }) => key === stepKey))
      throw new DomainError('BAD_USER_INPUT', `pinned[${at}].stepKey: the draft has no step ${stepKey}, or it is pinned before.`, {
        field: `pinned[${at}].stepKey`,
      })
    return { stepKey, output: readJson(output, `pinned[${at}].output`) }
  })
  readJson(pinned, 'pinned')
  return pinned
}

/** Begins a trial of a workflow's draft; once for each key. */
export async function testRun(context: Context, input: TestRunInput): Promise<RunRow> {
  const { viewer, workflows, plans, runs, runner, events } = context
  const organizationId = activeOrganization(viewer, 'Runs')
  const workflow = await workflows.require(input.workflowId, 'workflowId')
  requireInUse(workflow, 'update')
  const { id: workflowId, draft } = workflow
  if (draft.length === 0) throw new DomainError('CONFLICT', 'The draft has no step: write one before you try it.', { reason: 'EMPTY_PLAN' })
  const [given, pinned] = [readJson(input.input ?? {}, 'input'), readPinned(input.pinned, draft)]
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: runs,
    once: input,
    tenantId: organizationId,
    async run({ now, transaction }, id) {
      await requireReleased(context, organizationId, null, transaction)
      // It belongs to no workflow: the number is given again when the draft is published.
      const plan = { id: newId(now), organizationId, workflowId: null, number: workflow.plans + 1, steps: draft, createdAt: now, createdBy }
      const { id: planId } = await plans.insert(plan, transaction)
      return newRun(id, { organizationId, workflowId, planId, trigger: 'TEST', input: given, startedById: personOf(createdBy), createdBy, pinned }, now)
    },
    audit: ({ id }) => ({ tenantId: organizationId, action: 'run.tested', subjectId: id, details: { workflowId } }),
    announce(run) {
      announceRun(events, run)
      runner.soon()
    },
  })
  return row
}

/** The plan of a run's workflow with a number, or the published one. @throws BAD_USER_INPUT */
async function planOf({ plans }: Context, workflow: WorkflowRow | null, number: number | null): Promise<PlanRow> {
  const found = number === null ? await plans.find(workflow?.publishedPlanId ?? null) : workflow && (await plans.numbered(workflow.id, number))
  if (found) return found
  throw new DomainError('BAD_USER_INPUT', 'planNumber names no published plan of the run’s workflow.', { field: 'planNumber' })
}

/** Compares a run that has ended with what another plan would make of it; nothing is called, written or kept. */
export async function replayRun(context: Context, { runId: given, planNumber = null }: ReplayRunInput) {
  const { runs, workflows, plans, steps, approvals } = context
  const run = await runs.require(requireId(given, 'runId'), 'runId')
  if (!isOver(run.status))
    throw new DomainError('CONFLICT', `A run that is ${run.status} is not replayed: wait for its end.`, {
      ...{ reason: 'ILLEGAL_MOVE', from: run.status, verb: 'replay', possible: ['cancel'] },
    })
  const plan = await planOf(context, await workflows.find(run.workflowId), planNumber ?? null)
  const [own, begun] = await Promise.all([plans.byId.load(run.planId), steps.manyBy('runId').load(run.id)])
  const decided = await Promise.all(begun.map(({ approvalId }) => approvals.find(approvalId)))
  const recorded = begun.map((step, at) => ({ ...step, isEdited: decided[at]?.status === 'EDITED' }))
  return { runId: run.id, planNumber: plan.number, steps: compareRun(run, stepsInOrder(run, own?.steps ?? [], begun), plan.steps, recorded) }
}
