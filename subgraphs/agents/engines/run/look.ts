import { newId } from '../../../../platform/ids.ts'
import { type WriteTransaction, writeFacts } from '../../../store/books.ts'
import type { NewFact } from '../../../store/fact-kinds.ts'
import { write } from '../../../store/write.ts'
import type { ApprovalRow } from '../../stores/run/approval.ts'
import type { RunRow } from '../../stores/run/run.ts'
import type { PlanRow, PlanStep } from '../../stores/workflow.ts'
import { mapChildren } from '../map/children.ts'
import { hasOpenCalls, offsetOf } from '../tools/progress.ts'
import { announceApproval, announceRun, announceWidget } from './announce.ts'
import { askFor, overtake } from './approvals.ts'
import { unknownFact } from './attention.ts'
import type { CallEnd } from './interpret.ts'
import { limits } from './plan.ts'
import { newStep, runColumns, runState, stepColumns, stepIdOf, stepState } from './records.ts'
import { type Beginning, newRun, writeFeed, writeReport, writeStepsTask } from './start.ts'
import { isOver, type RunState, type StepState } from './state.ts'
import { cancel, type Effect, type Seen, stop, type Walked, walk } from './walk.ts'
import type { Calling, RunWork } from './work.ts'

/** For how long a process that makes a call is believed alive, in ms; it says so again well before. */
export const leaseMs = 12_000
/** How old a run becomes, in ms. */
const maxAgeMs = limits.runDays * 86_400_000
/** How often a run that has ended sees to it that those below it end too, in ms. */
const stoppingMs = 1_000

/** A call that has ended. */
export interface Ended {
  readonly claimId: string
  readonly end: CallEnd
}

/** What came of a look at a run. */
export interface Looked {
  readonly run: RunRow
  readonly calling: Calling | null
  readonly approvals: readonly ApprovalRow[]
  readonly began: readonly RunRow[]
  /** Whether the settlement and policy service is to be asked. */
  readonly asked: boolean
  /** Whether a report or a task was written. */
  readonly wrote: boolean
  /** What announces the reply that the run wrote; null for other runs, and before it ends. */
  readonly announceReply: (() => void) | null
  readonly isNews: boolean
}

/**
 * Takes a run as far as it goes, in one transaction. Any number of processes may do so at any time: who finds it not due leaves it.
 * @param ended how the call ended that this process made; without, a call that is under way counts as interrupted once its lease is over
 * @returns the call to make next, and when the run is due again by itself; null when there was nothing to do
 */
export async function look(job: RunWork, id: string, ended: Ended | null): Promise<Looked | null> {
  return write(job, {
    run: unit => lookInside(job, id, ended, unit),
    announce({ run, approvals, began, asked, wrote, announceReply, isNews }) {
      announceReply?.()
      if (asked) job.policy.soon()
      if (isNews) announceRun(job.events, run)
      for (const each of began) announceRun(job.events, each)
      for (const each of approvals) announceApproval(job.events, each)
      if (isOver(run.status) || approvals.length > 0 || began.length > 0 || wrote) announceWidget(job.events, run.organizationId)
    },
  })
}

async function lookInside(job: RunWork, id: string, ended: Ended | null, { transaction }: WriteTransaction): Promise<Looked | null> {
  const run = await job.runs.lock(id, transaction)
  const now = job.clock.now()
  if (!run || (ended ? run.claimId !== ended.claimId : run.wakeAt === null || run.wakeAt > now)) return null
  const unit = { transaction, now }
  const plan = await job.plans.inside(run.planId, transaction)
  const rows = await job.steps.ofRun(id, transaction)
  const states = new Map(rows.map(row => [row.key, stepState(row)]))
  const isStopped = await job.runs.isStopped(run.lineage, maxAgeMs / 1_000, transaction)
  const seen = () => seenBy(job, run, plan, states, ended, unit)
  const walked =
    isStopped && !isOver(run.status)
      ? stop(plan.steps, runState(run), states, await seen())
      : (endOld(run, plan, states, now) ?? walk(plan.steps, runState(run), states, await seen()))
  return writeDown(
    job,
    run,
    plan,
    rows.map(({ key }) => key),
    endsThoseBelow(run, walked.run, now) ? { ...walked, wakeAt: await stopBelow(job, run, unit) } : walked,
    unit,
  )
}

/** Whether the end of a run is that of all runs below it: it was cancelled, or has become too old. */
const endsThoseBelow = ({ createdAt, finishedAt }: RunRow, { status, failure }: RunState, now: Date): boolean =>
  status === 'CANCELLED' || (status === 'FAILED' && failure?.code === 'STEP_TIMEOUT' && (finishedAt ?? now).getTime() - createdAt.getTime() >= maxAgeMs)

/** Has the runs below a run end, each at its own look. @returns when to see to it again; null once none is left */
async function stopBelow(job: RunWork, { id, organizationId }: RunRow, { transaction, now }: WriteTransaction): Promise<Date | null> {
  const left = await job.runs.wakeBelow(id, organizationId, now, transaction)
  return left > 0 ? new Date(now.getTime() + stoppingMs) : null
}

/** A run that is too old fails where it is. */
function endOld(run: RunRow, { steps }: PlanRow, states: ReadonlyMap<string, StepState>, now: Date): Walked | null {
  if (isOver(run.status) || now.getTime() - run.createdAt.getTime() < maxAgeMs) return null
  const step = steps[run.cursor]
  if (states.get(step?.key ?? '')?.status === 'RUNNING') return null
  const stopped = cancel(steps, runState(run), states, now)
  const failure = { code: 'STEP_TIMEOUT' as const, message: `A run ends after ${limits.runDays} days.`, stepKey: step?.key ?? '' }
  return { ...stopped, run: { ...stopped.run, status: 'FAILED', failure } }
}

async function seenBy(
  job: RunWork,
  run: RunRow,
  { steps }: PlanRow,
  states: ReadonlyMap<string, StepState>,
  ended: Ended | null,
  { transaction, now }: WriteTransaction,
): Promise<Seen> {
  const state = states.get(steps[run.cursor]?.key ?? '')
  const approval = state?.phase === 'GATE' && state.approvalId ? await job.approvals.lock(state.approvalId, transaction) : null
  const policy = state?.phase === 'POLICY' && state.policyId ? await job.policyRequests.lock(state.policyId, transaction) : null
  const child = state?.childRunId ? await job.runs.peek(state.childRunId, transaction) : null
  const children = run.lineage.length < limits.depth ? await publishedPlans(job, run, steps, transaction) : new Map<string, string>()
  const tools = await job.toolsOf(steps, run.organizationId, transaction)
  return {
    now,
    held: await job.killSwitches.heldFor(run.organizationId, transaction),
    hasRoom: run.status !== 'QUEUED' || (await job.runs.hasRoom(run.organizationId, limits.runningOfOrganization, transaction)),
    approval,
    asksPolicy: job.policy.isConfigured,
    policy,
    child: child && runState(child),
    children: await mapChildren(job, state ?? null, stepIdOf(run.id, state?.key ?? ''), transaction),
    toolRuns: hasOpenCalls(state?.rounds ?? null)
      ? await job.runs.toolRuns(stepIdOf(run.id, state!.key), state!.childrenFrom, offsetOf(state!.rounds!), transaction)
      : [],
    pinned: run.trigger === 'TEST' ? new Map((run.pinned ?? []).map(({ stepKey, output }) => [stepKey, output])) : null,
    call: ended?.end ?? (state?.status === 'RUNNING' ? 'interrupted' : null),
    tool: tools,
    childPlan: ({ workflowId }) => children.get(workflowId!) ?? null,
    newId: () => newId(now),
  }
}

/** The published plans of the workflows that steps of a plan run, by the workflow. */
async function publishedPlans(
  job: RunWork,
  { organizationId }: RunRow,
  steps: readonly PlanStep[],
  transaction: WriteTransaction['transaction'],
): Promise<ReadonlyMap<string, string>> {
  const ids = steps.flatMap(({ kind, workflowId }) => ((kind === 'RUN' || kind === 'MAP') && workflowId ? [workflowId] : []))
  if (ids.length === 0) return new Map()
  const found = await job.workflows.named(ids, transaction)
  return new Map(
    found.flatMap(({ id, organizationId: whose, status, publishedPlanId }) =>
      whose === organizationId && status === 'PUBLISHED' && publishedPlanId ? [[id, publishedPlanId] as const] : [],
    ),
  )
}

async function writeDown(job: RunWork, before: RunRow, plan: PlanRow, known: readonly string[], walked: Walked, unit: WriteTransaction): Promise<Looked> {
  const { now, transaction } = unit
  for (const [key, state] of walked.changed)
    if (known.includes(key)) await job.steps.update(rowOf(before, key), { ...stepColumns(state), updatedAt: now }, transaction)
    else await job.steps.insert(newStep(before, state, now), transaction)
  const calls = walked.effects.find(effect => effect.does === 'call')
  const claimId = calls ? newId(now) : null
  const isNews = walked.changed.size > 0 || walked.run.status !== before.status
  const over = isOver(walked.run.status)
  const run = await job.runs.update(
    before,
    {
      ...runColumns(walked.run),
      ...{ claimId, wakeAt: calls ? new Date(now.getTime() + leaseMs) : walked.wakeAt },
      waitsForChild: isWaitingForChild(plan, walked),
      ...(before.startedAt === null && walked.run.status !== 'QUEUED' && { startedAt: now }),
      ...(over && before.finishedAt === null && { finishedAt: now }),
      ...(isNews && { version: before.version + 1, updatedAt: now }),
    },
    transaction,
  )
  if (run.trigger !== 'TEST' && before.status === 'QUEUED' && run.status !== 'QUEUED' && before.startedAt === null) await feed(job, run, 'RUN_STARTED', unit)
  const done = await doEffects(job, run, plan, walked.effects, unit)
  const hasEnded = over && !isOver(before.status)
  if (hasEnded) await end(job, run, walked.run, unit)
  // The end of a call that outlived its run is news for the run above.
  else if (over && before.claimId !== null && run.parentId) await job.runs.wake(run.parentId, now, transaction)
  const announceReply = hasEnded ? await job.replies.close(run, unit) : null
  return { run, calling: calls ? { run, claimId: claimId!, step: calls.step, state: calls.state } : null, ...done, announceReply, isNews }
}

/** Enough of a step's row to change it. */
const rowOf = ({ id: runId }: RunRow, key: string) => ({ runId, id: stepIdOf(runId, key) }) as Awaited<ReturnType<RunWork['steps']['lock']>> & object

const isWaitingForChild = ({ steps }: PlanRow, { run, changed }: Walked): boolean => {
  const state = changed.get(steps[run.cursor]?.key ?? '')
  const kind = steps[run.cursor]?.kind
  return run.status === 'RUNNING' && (kind === 'RUN' || kind === 'MAP' || state?.phase === 'TOOLS') && state?.status !== 'FAILED'
}

async function doEffects(
  job: RunWork,
  run: RunRow,
  plan: PlanRow,
  effects: readonly Effect[],
  unit: WriteTransaction,
): Promise<Pick<Looked, 'approvals' | 'began' | 'asked' | 'wrote'>> {
  const approvals: ApprovalRow[] = []
  const began: RunRow[] = []
  for (const effect of effects) {
    if (effect.does === 'ask') approvals.push(await askFor(job, run, effect, unit))
    if (effect.does === 'expire' || effect.does === 'escalate' || effect.does === 'withdraw') {
      const overtaken = await overtake(job, effect, unit)
      if (overtaken) approvals.push(overtaken)
    }
    if (effect.does === 'request') await job.policy.request(run, effect, unit)
    if (effect.does === 'lapse' || effect.does === 'drop') await job.policy.close(effect, unit)
    if (effect.does === 'start') began.push(await beginBelow(job, run, effect, { workflowId: effect.step.workflowId, planId: effect.planId }, unit))
    if (effect.does === 'use') {
      const { now, transaction } = unit
      const made = { organizationId: run.organizationId, workflowId: null, number: 1, steps: [effect.step], createdAt: now, createdBy: plan.createdBy }
      const { id: planId } = await job.plans.insert({ id: newId(now), ...made }, transaction)
      began.push(await beginBelow(job, run, { ...effect, step: effect.of }, { workflowId: null, planId }, unit))
    }
    if (effect.does === 'write') await (effect.step.kind === 'TASK' ? writeStepsTask(job, run, effect, unit) : writeReport(job, run, effect, unit))
  }
  return { approvals, began, asked: effects.some(({ does }) => does === 'request'), wrote: effects.some(({ does }) => does === 'write') }
}

type Begun = Pick<Extract<Effect, { does: 'start' }>, 'step' | 'item' | 'id' | 'input'>

/** Begins a run for a step of another one. */
function beginBelow(job: RunWork, run: RunRow, begun: Begun, goes: Pick<Beginning, 'workflowId' | 'planId'>, unit: WriteTransaction): Promise<RunRow> {
  const { organizationId, startedById, createdBy } = run
  const trigger = run.trigger === 'TEST' ? 'TEST' : 'PARENT'
  const beginning = { organizationId, startedById, createdBy, ...goes, trigger, input: begun.input, parent: run, item: itemOf(run, begun) } as const
  return job.runs.insert(newRun(begun.id, beginning, unit.now), unit.transaction)
}

const itemOf = ({ id }: RunRow, { step, item }: Pick<Begun, 'step' | 'item'>): Beginning['item'] =>
  item ? { parentStepId: stepIdOf(id, step.key), itemIndex: BigInt(item.index), parentAttempt: item.attempt } : null

const feed = (job: RunWork, run: RunRow, kind: 'RUN_STARTED' | 'RUN_SUCCEEDED' | 'RUN_FAILED' | 'RUN_CANCELLED', unit: WriteTransaction): Promise<void> =>
  writeFeed(job, run, { kind, title: run.failureMessage ?? 'A run', actor: run.createdBy, userId: run.startedById }, unit)

/** What follows from the end of a run: the feed, a fact, and the run above it. */
async function end(job: RunWork, run: RunRow, { status, failure }: RunState, unit: WriteTransaction): Promise<void> {
  if (run.parentId) await job.runs.wake(run.parentId, unit.now, unit.transaction)
  // Nobody but whoever tries a draft hears of the trial.
  if (run.trigger === 'TEST') return
  await feed(job, run, status === 'SUCCEEDED' ? 'RUN_SUCCEEDED' : status === 'FAILED' ? 'RUN_FAILED' : 'RUN_CANCELLED', unit)
  const { id: runId, organizationId } = run
  const facts: NewFact[] = failure && status === 'FAILED' ? [{ kind: 'run.failed', body: { runId, organizationId, code: failure.code } }] : []
  await writeFacts(job, facts, unit)
  if (failure?.code === 'OUTCOME_UNKNOWN') await writeFacts(job, [unknownFact(job.publicUrl, run, stepIdOf(runId, failure.stepKey), unit.now)], unit)
}
