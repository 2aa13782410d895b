import { DomainError } from '../../../../platform/errors.ts'
import { requireId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { change, checkVersion, create, step, write } from '../../../store/write.ts'
import { activeOrganization, actorOf, personOf } from '../../../viewer.ts'
import type { Context, Job } from '../../context.ts'
import { requireAskable } from '../../engines/policy/require.ts'
import { announceApproval, announceRun, announceWidget } from '../../engines/run/announce.ts'
import { overtake } from '../../engines/run/approvals.ts'
import { resolvedFact } from '../../engines/run/attention.ts'
import { moveAfter } from '../../engines/run/interpret.ts'
import { requireReleased } from '../../engines/run/kill-switch.ts'
import { runColumns, runState, stepColumns, stepState } from '../../engines/run/records.ts'
import { newRun, writeFeed } from '../../engines/run/start.ts'
import { fresh, isOver } from '../../engines/run/state.ts'
import { cancel } from '../../engines/run/walk.ts'
import type { CancelRunInput, ResolveStepInput, RetryRunInput, StartRunInput } from '../../resolvers.generated.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'
import type { RunRow } from '../../stores/run/run.ts'
import { readJson } from '../plan.ts'
import { requireClear, requireMove, retryFrom } from './rules.ts'

/** Begins a run of a published workflow; once for each key. */
export async function startRun(context: Context, input: StartRunInput): Promise<RunRow> {
  const { viewer, workflows, runs, runner, events, plans } = context
  const organizationId = activeOrganization(viewer, 'Runs')
  const workflow = await workflows.require(input.workflowId, 'workflowId')
  const given = readJson(input.input ?? {}, 'input')
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: runs,
    once: input,
    tenantId: organizationId,
    async run({ now, transaction }, id) {
      await requireReleased(context, organizationId, null, transaction)
      const { id: workflowId, publishedPlanId: planId, status } = workflow
      if (status !== 'PUBLISHED' || planId === null)
        throw new DomainError('CONFLICT', 'Only a published workflow can be started: publish it first.', { reason: 'NOT_PUBLISHED' })
      await requireAskable(context, (await plans.inside(planId, transaction)).steps, organizationId, transaction)
      return newRun(id, { organizationId, workflowId, planId, trigger: 'MANUAL', input: given, startedById: personOf(createdBy), createdBy }, now)
    },
    audit: ({ id, workflowId }) => ({ tenantId: organizationId, action: 'run.started', subjectId: id, details: { workflowId } }),
    announce(run) {
      announceRun(events, run)
      announceWidget(events, organizationId)
      runner.soon()
    },
  })
  return row
}

/** A run that was stopped, its approval that fell with it, and what announces the reply that it wrote. */
export interface Stopped {
  readonly run: RunRow
  readonly approval: ApprovalRow | null
  readonly announceReply: (() => void) | null
}

/** Stops a run under its lock. @returns null when it has ended */
export async function stopInside(job: Job, run: RunRow, unit: WriteTransaction): Promise<Stopped | null> {
  if (isOver(run.status)) return null
  const { now, transaction } = unit
  const plan = await job.plans.inside(run.planId, transaction)
  const rows = await job.steps.ofRun(run.id, transaction)
  const { run: stopped, changed, effects } = cancel(plan.steps, runState(run), new Map(rows.map(row => [row.key, stepState(row)])), now)
  for (const row of rows) {
    const state = changed.get(row.key)
    if (state) await job.steps.update(row, { ...stepColumns(state), updatedAt: now }, transaction)
  }
  let approval: ApprovalRow | null = null
  for (const effect of effects) {
    if (effect.does === 'withdraw') approval = await overtake(job, effect, unit)
    if (effect.does === 'drop') await job.policy.close(effect, unit)
  }
  // A call that is under way is waited for: its lease says until when. Its runs are seen to again, should this process not end them all.
  const wakeAt = run.claimId !== null ? run.wakeAt : run.waitsForChild ? now : null
  const after = { ...runColumns(stopped), wakeAt, finishedAt: now, updatedAt: now, version: run.version + 1 }
  const written = await job.runs.update(run, after, transaction)
  return { run: written, approval, announceReply: await job.replies.close(written, unit) }
}

/** Announces a stopped run, and what fell with it. */
export const announceStopped = (job: Pick<Job, 'events'>, { run, approval, announceReply }: Stopped): void => {
  announceReply?.()
  announceRun(job.events, run)
  if (approval) announceApproval(job.events, approval)
  announceWidget(job.events, run.organizationId)
}

/** Stops a run and those below it: when it is answered, nothing of them begins any more. */
export async function cancelRun(context: Context, { id, expectedVersion }: CancelRunInput): Promise<RunRow> {
  const { runs } = context
  const actor = actorOf(context.viewer)
  const job = context.jobFor(actor)
  const { id: known } = await runs.require(id)
  const stopped = await write(job, {
    async run(unit) {
      const run = await job.runs.lock(known, unit.transaction)
      requireMove(run!, 'cancel')
      checkVersion(run!.version, expectedVersion, 'run')
      const done = await stopInside(job, run!, unit)
      if (run!.trigger !== 'TEST') await writeFeed(job, run!, { kind: 'RUN_CANCELLED', title: 'A run was cancelled', actor, userId: personOf(actor) }, unit)
      if (run!.parentId) await job.runs.wake(run!.parentId, unit.now, unit.transaction)
      return done
    },
    audit: ({ run }) => ({ tenantId: run.organizationId, action: 'run.cancelled', subjectId: run.id }),
    announce: done => announceStopped(job, done),
  })
  await stopBelow(job, stopped!.run)
  return stopped!.run
}

/** Stops what a stopped run had begun. */
export async function stopBelow(job: Job, { id, organizationId }: Pick<RunRow, 'id' | 'organizationId'>): Promise<void> {
  for (const below of await job.runs.below(id, organizationId))
    await write(job, {
      run: async unit => {
        const run = await job.runs.lock(below, unit.transaction)
        return run && stopInside(job, run, unit)
      },
      announce: done => announceStopped(job, done),
    })
  job.runner.soon()
}

/** Has a failed run go on from a step. */
export async function retryRun(context: Context, { id, fromStep, expectedVersion }: RetryRunInput): Promise<RunRow> {
  const { runs, steps, plans, runner, events } = context
  return change(context, {
    of: runs,
    ...{ id, expectedVersion },
    async decide(run, { now, transaction }) {
      requireMove(run, 'retry')
      const plan = await plans.inside(run.planId, transaction)
      const rows = await steps.ofRun(run.id, transaction)
      const at = retryFrom(run, plan.steps, rows, fromStep ?? null)
      const repeated = rows.filter(({ key }) => plan.steps.findIndex(step => step.key === key) >= at)
      const childRunIds = repeated.flatMap(({ childRunId }) => childRunId ?? [])
      const stepIds = repeated.map(row => row.id)
      requireClear(await runs.unclearBelow(run.id, stepIds, childRunIds, transaction))
      for (const row of repeated) {
        // A list step that goes on keeps what its items gave; one behind another step that is repeated may have another list.
        const attempt = row.attempt + 1
        const kept = row.key === plan.steps[at]!.key
        // A model goes on from what it was told: what it had done is not done again. Nor is a run begun again that has been brought to its end.
        const childRunId = kept && row.status === 'FAILED' ? row.childRunId : null
        const again = { ...fresh(row.key, row.kind, attempt, kept ? row.childrenFrom : attempt), rounds: kept ? row.rounds : null, childRunId }
        await steps.update(row, { ...stepColumns(again), updatedAt: now }, transaction)
      }
      const again = { status: 'QUEUED', cursor: at, output: null, failure: null } as const
      return { ...runColumns({ ...again, input: run.input }), finishedAt: null, wakeAt: now, claimId: null }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'run.retried', subjectId: after.id, details: { fromStep: fromStep ?? null } }),
    announce({ after }) {
      announceRun(events, after)
      announceWidget(events, after.organizationId)
      runner.soon()
    },
  })
}

/** Writes down what a person knows of an unclear step; where it happened, its run goes on. */
export async function resolveStep(context: Context, { stepId, happened, output }: ResolveStepInput): Promise<RunRow> {
  const { runs, steps, plans, runner, events } = context
  const known = await steps.require(requireId(stepId, 'stepId'), 'stepId')
  const given = readJson(output, 'output')
  const stepped = await step(context, {
    of: runs,
    hold: known.runId,
    async decide(run, { now, transaction }) {
      const row = (await steps.ofRun(run.id, transaction)).find(each => each.id === known.id)
      if (!row) throw notFound('step', stepId)
      if (row.status !== 'UNKNOWN')
        throw new DomainError('CONFLICT', `Step ${row.key} is ${row.status}: only an unknown outcome is resolved.`, {
          reason: 'ILLEGAL_MOVE',
          from: row.status,
          verb: 'resolve',
          possible: [],
        })
      const plan = await plans.inside(run.planId, transaction)
      const resolved = happened
        ? { status: 'SUCCEEDED' as const, output: given, failureCode: null, failureMessage: null }
        : { status: 'FAILED' as const, failureMessage: 'A person found that it did not happen.' }
      await steps.update(row, { ...resolved, updatedAt: now }, transaction)
      if (!happened || run.status !== 'FAILED') return { changes: {}, isNews: true }
      const move = moveAfter(plan.steps, run.cursor, { is: 'done', output: given })
      const goesOn = 'to' in move
      // No look at the run follows that would write it.
      if (!goesOn && run.trigger !== 'TEST') {
        const ended = { kind: 'RUN_SUCCEEDED', title: 'A run', actor: run.createdBy, userId: run.startedById } as const
        await writeFeed(context, run, ended, { now, transaction })
      }
      const after = { status: goesOn ? 'RUNNING' : 'SUCCEEDED', cursor: goesOn ? move.to : plan.steps.length, output: given, failure: null } as const
      return { changes: { ...runColumns({ ...after, input: run.input }), finishedAt: goesOn ? null : now, wakeAt: goesOn ? now : null }, isNews: true }
    },
    audit: ({ after }) => ({ tenantId: after.organizationId, action: 'step.resolved', subjectId: known.id, details: { happened } }),
    facts: () => [resolvedFact(known.id)],
    announce({ after }) {
      announceRun(events, after)
      announceWidget(events, after.organizationId)
      runner.soon()
    },
  })
  if (!stepped) throw notFound('step', stepId)
  return stepped.after
}
