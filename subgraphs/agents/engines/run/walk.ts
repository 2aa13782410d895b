import type { Failure, FailureCode, RunStatus, ToolRun } from '../../stores/run/run.ts'
import type { Gate, Json, PlanStep } from '../../stores/workflow.ts'
import type { Held } from '../../stores/workspace/kill-switch.ts'
import { type MapChildren, type MapItem, noChildren } from '../map/progress.ts'
import { hasOpenCalls, takeToolsOn } from '../tools/progress.ts'
import { type Action, hashOfAction } from './canonical.ts'
import { type CallEnd, concludeCancelled, endOf, moveAfter, type Outcome, afterFailure as pauseOrEnd, unknown } from './interpret.ts'
import { isHeldBy } from './kill-switch.ts'
import { readList, takeListOn } from './list.ts'
import { limits, stepOfCall, usualGate } from './plan.ts'
import { type ApprovalState, fresh, isCallable, isHarmless, type PolicyState, type RunState, type StepState, type ToolFacts } from './state.ts'
import { fill, holds, MissingPath, type Scope } from './template.ts'

/** What the interpreter sees at one look at a run. */
export interface Seen {
  readonly now: Date
  /** What may not begin at present. */
  readonly held: Held
  /** Whether a run of this run's organization may begin to run at present. */
  readonly hasRoom: boolean
  /** Null for a tool that is not there any more. */
  tool(step: PlanStep): ToolFacts | null
  /** The plan that a RUN step's child begins with; null where its workflow has none, or the run is too deep to have children. */
  childPlan(step: PlanStep): string | null
  /** The approval that the present step waits for. */
  readonly approval: ApprovalState | null
  /** Whether there is a settlement and policy service to ask. */
  readonly asksPolicy: boolean
  /** What the present step waits for at that service. */
  readonly policy: PolicyState | null
  /** The child run that the present step waits for. */
  readonly child: Pick<RunState, 'status' | 'output' | 'failure'> | null
  /** The runs of the items of the present step, where it is a MAP. */
  readonly children: MapChildren
  /** The runs of the tools that the present step's model wants called. */
  readonly toolRuns: readonly ToolRun[]
  /** Of a trial: the outputs of steps that are not worked out; null for other runs. */
  readonly pinned: ReadonlyMap<string, Json> | null
  /** How the call ended that was under way. */
  readonly call: CallEnd | null
  newId(): string
}

/** What is to be done in the same transaction; `call` after it. */
export type Effect =
  | { readonly does: 'call'; readonly step: PlanStep; readonly state: StepState }
  | { readonly does: 'ask'; readonly step: PlanStep; readonly gate: Gate; readonly action: Action; readonly id: string }
  | { readonly does: 'expire' | 'escalate' | 'withdraw'; readonly approvalId: string }
  | { readonly does: 'request'; readonly step: PlanStep; readonly action: Action; readonly id: string; readonly expiresAt: Date }
  | { readonly does: 'lapse' | 'drop'; readonly policyId: string }
  | { readonly does: 'start'; readonly step: PlanStep; readonly planId: string; readonly input: Json; readonly id: string; readonly item?: MapItem }
  | { readonly does: 'use'; readonly step: PlanStep; readonly of: PlanStep; readonly input: Json; readonly id: string; readonly item: MapItem }
  | { readonly does: 'write'; readonly step: PlanStep; readonly text: string; readonly id: string }

/** A run after a look: what changed, and when it is to be looked at again by itself (null: when something happens). */
export interface Walked {
  readonly run: RunState
  readonly changed: ReadonlyMap<string, StepState>
  readonly effects: readonly Effect[]
  readonly wakeAt: Date | null
}

/** For how long a run is left alone that may not go on at present, in ms. */
const heldMs = 10_000
const queuedMs = 1_000

type Wait = { readonly state: StepState; readonly status: RunStatus; readonly wakeAt: Date | null; readonly effects?: readonly Effect[] }
type Stepped = Wait | { readonly state: StepState; readonly outcome: Outcome; readonly effects?: readonly Effect[] }

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
const failed = (code: FailureCode, message: string): Outcome => ({ is: 'failed', failure: { code, message } })

/**
 * Takes a run as far as it goes by itself: until it waits, calls, or ends. Pure: the caller writes down what changed and does the effects in
 * one transaction, and makes a call after it.
 */
export function walk(plan: readonly PlanStep[], run: RunState, known: ReadonlyMap<string, StepState>, seen: Seen): Walked {
  const steps = new Map(known)
  const changed = new Map<string, StepState>()
  const effects: Effect[] = []
  let present = run
  let view = seen
  const end = (wakeAt: Date | null): Walked => ({ run: present, changed, effects, wakeAt })
  if (run.status === 'CANCELLED') return afterCancel(plan, run, steps, seen)
  if (run.status === 'SUCCEEDED' || run.status === 'FAILED') return end(null)
  if (run.status === 'QUEUED' && (seen.held.all || !seen.hasRoom)) return end(later(seen.now, seen.held.all ? heldMs : queuedMs))
  if (plan.length === 0) {
    present = { ...run, status: 'SUCCEEDED', cursor: 0 }
    return end(null)
  }
  for (;;) {
    const step = plan[present.cursor]!
    const state = steps.get(step.key) ?? fresh(step.key, step.kind)
    if (state.status === 'PENDING' && isHeldBy(view.held, step.agentId)) {
      present = { ...present, status: present.status === 'QUEUED' ? 'QUEUED' : 'RUNNING' }
      return end(later(view.now, heldMs))
    }
    const scope = { input: present.input, outputs: outputsOf(steps) }
    const stepped = state.status === 'PENDING' ? begin(step, { ...state, startedAt: view.now }, scope, view) : goOn(step, state, scope, view)
    effects.push(...(stepped.effects ?? []))
    if ('status' in stepped) {
      keep(stepped.state)
      present = { ...present, status: stepped.status }
      return end(stepped.wakeAt)
    }
    const { outcome } = stepped
    const ended = endOf(stepped.state, outcome, view.now)
    keep(ended)
    const move = moveAfter(plan, present.cursor, outcome)
    const output = ended.status === 'SUCCEEDED' ? ended.output : present.output
    if ('ends' in move) {
      const failure = move.ends === 'FAILED' ? { ...move.failure, stepKey: step.key } : null
      present = { ...present, output: failure ? null : output, failure, status: move.ends, cursor: failure ? present.cursor : plan.length }
      return end(null)
    }
    present = { ...present, status: 'RUNNING', cursor: move.to, output }
    // What was seen belongs to the step that has ended.
    view = { ...view, approval: null, policy: null, child: null, children: noChildren, toolRuns: [], call: null }
  }

  function keep(state: StepState): void {
    steps.set(state.key, state)
    changed.set(state.key, state)
  }
}

/** The outputs of the steps that gave one; of a step that a trial went past it is null. */
const outputsOf = (steps: ReadonlyMap<string, StepState>): ReadonlyMap<string, Json> =>
  new Map([...steps.values()].flatMap(({ key, status, output }) => (status === 'SUCCEEDED' || status === 'SKIPPED' ? [[key, output] as const] : [])))

function begin(step: PlanStep, state: StepState, scope: Scope, seen: Seen): Stepped {
  try {
    return beginFilled(step, state, scope, seen)
  } catch (error) {
    if (error instanceof MissingPath) return { state, outcome: failed('TEMPLATE_MISSING', `The step names {{${error.path}}}, which leads to nothing.`) }
    throw error
  }
}

function beginFilled(step: PlanStep, state: StepState, scope: Scope, seen: Seen): Stepped {
  const { now } = seen
  const tried = seen.pinned && tryOut(step, state, scope, seen, seen.pinned)
  if (tried) return tried
  if (step.kind === 'BRANCH') return { state, outcome: holds(step.condition!, scope) ? { is: 'done', output: true } : { is: 'false' } }
  if (step.kind === 'DELAY') {
    const dueAt = later(now, step.seconds! * 1_000)
    return { state: { ...state, status: 'WAITING', dueAt }, status: 'WAITING_TIMER', wakeAt: dueAt }
  }
  if (step.kind === 'REPORT' || step.kind === 'TASK') {
    const filled = fill(step.text!, scope)
    const text = (typeof filled === 'string' ? filled : JSON.stringify(filled)).slice(0, limits.jsonBytes)
    const id = seen.newId()
    return { state: { ...state, input: { text } }, outcome: { is: 'done', output: { id, text } }, effects: [{ does: 'write', step, text, id }] }
  }
  if (step.kind === 'MODEL') {
    const asks = { ...state, input: { prompt: fill(step.prompt!, scope) } }
    return hasOpenCalls(state.rounds) ? goOnTools(step, { ...asks, status: 'WAITING', phase: 'TOOLS' }, seen) : call(step, asks, seen)
  }
  if (step.kind === 'MAP') {
    const list = readList(step, scope)
    return 'outcome' in list ? { state, outcome: list.outcome } : goOnMap(step, { ...state, status: 'WAITING', input: list.items }, scope, seen)
  }
  const given = fill(step.arguments, scope)
  const filled = { ...state, input: given }
  if (step.kind === 'RUN') {
    // After a retry the run that it began before may have been brought to its end, or be on its way there.
    const known = state.childRunId && childOn({ ...filled, status: 'WAITING' }, seen)
    if (known) return known
    const planId = seen.childPlan(step)
    if (planId === null) return { state: filled, outcome: failed('CHILD_FAILED', 'The workflow of this step is not published, or this run lies too deep.') }
    const id = seen.newId()
    const waits = { ...filled, status: 'WAITING', childRunId: id } as const
    return { state: waits, status: 'RUNNING', wakeAt: null, effects: [{ does: 'start', step, planId, input: given, id }] }
  }
  if (step.kind === 'APPROVAL') return ask(step, step.gate!, filled, seen)
  const tool = seen.tool(step)
  if (!isCallable(step, tool)) return { state: filled, outcome: notCallable(step) }
  const gate = step.gate ?? (tool.permission === 'ASK' ? usualGate(step, tool.risk) : null)
  return gate ? ask(step, gate, filled, seen) : askPolicyOrCall(step, filled, seen)
}

/** What a trial does otherwise: it works out what is not pinned, has no effect, and waits for nobody. @returns null for what it does like other runs */
function tryOut(step: PlanStep, state: StepState, scope: Scope, seen: Seen, pinned: ReadonlyMap<string, Json>): Stepped | null {
  const output = pinned.get(step.key)
  if (output !== undefined) return { state, outcome: { is: 'done', output } }
  if (step.kind === 'DELAY') return { state, outcome: { is: 'done', output: null } }
  const tool = step.kind === 'TOOL' ? seen.tool(step) : null
  if (step.kind === 'TOOL' && isHarmless(step, tool)) {
    const filled = { ...state, input: fill(step.arguments, scope) }
    return isCallable(step, tool) ? call(step, filled, seen) : { state: filled, outcome: notCallable(step) }
  }
  const isSkipped = step.kind === 'TOOL' || step.kind === 'APPROVAL' || step.kind === 'REPORT' || step.kind === 'TASK'
  return isSkipped ? { state, outcome: { is: 'done', output: null, isSkipped } } : null
}

/** Goes on with a MAP whose list is known: begins runs of its items, or ends. */
function goOnMap(step: PlanStep, state: StepState, scope: Scope, seen: Seen): Stepped {
  const planId = seen.childPlan(step)
  const taken = takeListOn(step, state, scope, seen.children, planId !== null)
  if ('outcome' in taken) return { state, outcome: taken.outcome }
  if (taken.begin.length > 0 && isHeldBy(seen.held)) return { state, status: 'RUNNING', wakeAt: later(seen.now, heldMs) }
  const start = ({ index, input }: (typeof taken.begin)[number]): Effect => ({
    ...{ does: 'start', step, planId: planId!, input, id: seen.newId(), item: { index, attempt: state.attempt } },
  })
  return { state, status: 'RUNNING', wakeAt: null, effects: taken.begin.map(start) }
}

const notCallable = ({ tool }: PlanStep): Outcome => failed('NOT_PERMITTED', `The tool ${tool} may not be called.`)

/** What would be executed; whose it is, is the connector's where the step leaves it out. */
const actionOf = (step: PlanStep, given: Json, seen: Seen): Action => ({
  ...{ connectorId: step.connectorId, tool: step.tool, arguments: given },
  counterparty: step.counterparty ?? (step.kind === 'TOOL' ? (seen.tool(step)?.counterparty ?? null) : null),
})

function ask(step: PlanStep, gate: Gate, state: StepState, seen: Seen): Stepped {
  const { now, newId } = seen
  const id = newId()
  const seconds = Math.min(gate.escalateAfterSeconds ?? gate.expiresInSeconds, gate.expiresInSeconds)
  const wakeAt = later(now, seconds * 1_000)
  const waits = { ...state, status: 'WAITING', phase: 'GATE', approvalId: id, dueAt: later(now, gate.expiresInSeconds * 1_000) } as const
  return { state: waits, status: 'WAITING_APPROVAL', wakeAt, effects: [{ does: 'ask', step, gate, action: actionOf(step, state.input, seen), id }] }
}

/** What belongs to another organization waits for its word; everything else is called. */
function askPolicyOrCall(step: PlanStep, state: StepState, seen: Seen): Stepped {
  const action = actionOf(step, state.input, seen)
  if (action.counterparty === null) return call(step, state, seen)
  if (!seen.asksPolicy)
    return { state, outcome: failed('NOT_PERMITTED', `No settlement and policy service is configured, so ${action.counterparty} cannot be asked.`) }
  const id = seen.newId()
  const expiresAt = later(seen.now, (step.policyTimeoutSeconds ?? limits.policy.usual) * 1_000)
  const waits = { ...state, status: 'WAITING', phase: 'POLICY', policyId: id, dueAt: expiresAt } as const
  return { state: waits, status: 'WAITING_POLICY', wakeAt: expiresAt, effects: [{ does: 'request', step, action, id, expiresAt }] }
}

/** The call is recorded first; whoever does the effect makes it once that is committed. The lease is the caller's. */
function call(step: PlanStep, state: StepState, _: Seen): Stepped {
  const calling: StepState = { ...state, status: 'RUNNING', phase: 'CALL', tries: state.tries + 1, dueAt: null }
  return { state: calling, status: 'RUNNING', wakeAt: null, effects: [{ does: 'call', step, state: calling }] }
}

/** Has the tools called that a model wants, waits for their runs, and then tells the model what came of them. */
function goOnTools(step: PlanStep, state: StepState, seen: Seen): Stepped {
  const taken = takeToolsOn(state.rounds!, seen.toolRuns)
  if ('unclear' in taken)
    return {
      state,
      outcome: failed('CHILD_FAILED', `It is unknown whether ${taken.unclear.name} has happened: check, resolve the step of its run, and retry.`),
    }
  const begins = 'rounds' in taken || taken.begin.length > 0
  if (begins && isHeldBy(seen.held, step.agentId)) return { state, status: 'RUNNING', wakeAt: later(seen.now, heldMs) }
  if ('rounds' in taken) return call(step, { ...state, rounds: taken.rounds, tries: 0 }, seen)
  const use = ({ index, call: { arguments: input, ...wanted } }: (typeof taken.begin)[number]): Effect => ({
    ...{ does: 'use', step: stepOfCall(step, wanted), of: step, input, id: seen.newId(), item: { index, attempt: state.attempt } },
  })
  return { state, status: 'RUNNING', wakeAt: null, effects: taken.begin.map(use) }
}

function goOn(step: PlanStep, state: StepState, scope: Scope, seen: Seen): Stepped {
  if (step.kind === 'MAP') return goOnMap(step, state, scope, seen)
  if (state.phase === 'TOOLS') return goOnTools(step, state, seen)
  if (state.phase === 'GATE') return atGate(step, state, seen)
  if (state.phase === 'POLICY') return atPolicy(step, state, seen)
  if (state.phase === 'CALL') return atCall(step, state, seen)
  if (step.kind === 'DELAY')
    return state.dueAt! <= seen.now ? { state, outcome: { is: 'done', output: null } } : { state, status: 'WAITING_TIMER', wakeAt: state.dueAt }
  return (
    childOn(state, seen) ?? {
      state,
      outcome: failed('CHILD_FAILED', `The run that this step began has ${seen.child?.status === 'FAILED' ? 'failed' : 'been cancelled'}.`),
    }
  )
}

/** How a RUN step goes on with the run that it has begun; null where that has failed or was cancelled. */
function childOn(state: StepState, { child }: Seen): Stepped | null {
  if (child?.status === 'SUCCEEDED') return { state, outcome: { is: 'done', output: child.output } }
  return child?.status === 'FAILED' || child?.status === 'CANCELLED' ? null : { state, status: 'RUNNING', wakeAt: null }
}

function atGate(step: PlanStep, state: StepState, seen: Seen): Stepped {
  const { now, approval } = seen
  const approvalId = state.approvalId!
  if (!approval) throw new Error(`step ${state.key} waits for an approval that is not there`)
  const isDue = approval.status === 'PENDING' && approval.expiresAt <= now
  if (approval.status === 'PENDING' && !isDue) {
    const escalates = approval.escalateAt !== null && approval.escalatedAt === null
    const isUrgent = escalates && approval.escalateAt! <= now
    const wakeAt = escalates && !isUrgent && approval.escalateAt! < approval.expiresAt ? approval.escalateAt : approval.expiresAt
    return { state, status: 'WAITING_APPROVAL', wakeAt, ...(isUrgent && { effects: [{ does: 'escalate', approvalId }] }) }
  }
  const effects: readonly Effect[] = isDue ? [{ does: 'expire', approvalId }] : []
  const hasExpired = isDue || approval.status === 'EXPIRED'
  if (approval.status === 'REJECTED' || approval.status === 'CANCELLED')
    return { state, outcome: refused('APPROVAL_REJECTED', 'A person has rejected this step.') }
  if (hasExpired && approval.onExpiry === 'REJECT') return { state, effects, outcome: refused('APPROVAL_EXPIRED', 'The deadline passed without a decision.') }
  // Nothing begins while it is held; the word that was given stands.
  if (isHeldBy(seen.held, step.agentId)) return { state, effects, status: 'RUNNING', wakeAt: later(now, heldMs) }
  if (step.kind === 'APPROVAL') {
    const decision = hasExpired ? 'APPROVE' : verdictOf(approval.status)
    return { state, effects, outcome: { is: 'done', output: { decision, response: approval.response, arguments: approval.arguments } } }
  }
  if (!isCallable(step, seen.tool(step))) return { state, effects, outcome: notCallable(step) }
  if (hashOfAction(actionOf(step, approval.arguments, seen)) !== approval.argumentsHash)
    return { state, effects, outcome: failed('NOT_PERMITTED', 'What was approved is not what would be executed.') }
  const stepped = askPolicyOrCall(step, { ...state, input: approval.arguments }, seen)
  return { ...stepped, effects: [...effects, ...(stepped.effects ?? [])] }
}

function atPolicy(step: PlanStep, state: StepState, seen: Seen): Stepped {
  const { now, policy } = seen
  if (!policy) throw new Error(`step ${state.key} waits for a decision that nobody was asked for`)
  const { decision, counterparty, reason, expiresAt } = policy
  const because = reason ? `: ${reason}` : '.'
  if (decision === 'PENDING' || decision === 'HOLD') {
    if (expiresAt > now) return { state, status: 'WAITING_POLICY', wakeAt: expiresAt }
    const silence = refused('POLICY_EXPIRED', `${counterparty} has not decided in time.`)
    return { state, effects: [{ does: 'lapse', policyId: state.policyId! }], outcome: silence }
  }
  if (decision === 'DENY') return { state, outcome: refused('POLICY_DENIED', `${counterparty} has refused this action${because}`) }
  if (decision === 'EXPIRED') return { state, outcome: refused('POLICY_EXPIRED', `${counterparty} has not decided in time.`) }
  if (decision === 'MISMATCH')
    return { state, outcome: failed('POLICY_MISMATCH', `${counterparty} has decided about another action, so nothing was executed.`) }
  // Nothing begins while it is held; the word that was given stands.
  if (isHeldBy(seen.held, step.agentId)) return { state, status: 'RUNNING', wakeAt: later(now, heldMs) }
  if (!isCallable(step, seen.tool(step))) return { state, outcome: notCallable(step) }
  if (hashOfAction(actionOf(step, state.input, seen)) !== policy.actionHash)
    return { state, outcome: failed('NOT_PERMITTED', 'What was allowed is not what would be executed.') }
  return call(step, state, seen)
}

const verdictOf = (status: ApprovalState['status']): string => (status === 'EDITED' ? 'EDIT' : status === 'RESPONDED' ? 'RESPOND' : 'APPROVE')

const refused = (code: FailureCode, message: string): Outcome => ({ is: 'refused', failure: { code, message } satisfies Failure })

function atCall(step: PlanStep, state: StepState, seen: Seen): Stepped {
  const { call: ended, now } = seen
  const mayRepeat = step.kind === 'MODEL' || (seen.tool(step)?.mayRepeat ?? false)
  if (state.status === 'WAITING') {
    if (state.dueAt! > now) return { state, status: 'RUNNING', wakeAt: state.dueAt }
    return isHeldBy(seen.held, step.agentId) ? { state, status: 'RUNNING', wakeAt: later(now, heldMs) } : call(step, state, seen)
  }
  if (ended === null) throw new Error(`step ${state.key} is called, and nothing is known of the call`)
  if (ended === 'interrupted') {
    if (!mayRepeat) return { state, outcome: unknown('The process that called it has ended.') }
    return isHeldBy(seen.held, step.agentId)
      ? { state: { ...state, status: 'WAITING', dueAt: now }, status: 'RUNNING', wakeAt: later(now, heldMs) }
      : call(step, state, seen)
  }
  const answered = 'failure' in ended ? state : { ...state, callId: ended.callId ?? state.callId }
  if ('answer' in ended) return { state: answered, outcome: { is: 'done', output: ended.answer } }
  if ('round' in ended) return goOnTools(step, { ...answered, status: 'WAITING', phase: 'TOOLS', rounds: [...(state.rounds ?? []), ended.round] }, seen)
  const next = pauseOrEnd(ended.failure, { mayRepeat, retries: step.retries, tries: state.tries })
  if ('is' in next) return { state, outcome: next }
  const dueAt = later(now, next.againInMs)
  return { state: { ...state, status: 'WAITING', dueAt }, status: 'RUNNING', wakeAt: dueAt }
}

/** A call may outlive the run that began it: its step says what became of it, and nothing follows. */
function afterCancel(plan: readonly PlanStep[], run: RunState, steps: ReadonlyMap<string, StepState>, { now, call: ended }: Seen): Walked {
  const state = steps.get(plan[run.cursor]?.key ?? '')
  if (state?.status !== 'RUNNING' || ended === null) return { run, changed: new Map(), effects: [], wakeAt: null }
  return { run, changed: new Map([[state.key, concludeCancelled(state, ended, now)]]), effects: [], wakeAt: null }
}

/**
 * Stops a run where it is: nothing begins afterwards. A step that waits is cancelled with it; one whose call is under way is left to that
 * call, whose end is recorded.
 * @returns what changed; `wakeAt` null, for the caller knows of its call's lease
 */
export function cancel(plan: readonly PlanStep[], run: RunState, steps: ReadonlyMap<string, StepState>, now: Date): Walked {
  const state = steps.get(plan[run.cursor]?.key ?? '')
  const ends = state && (state.status === 'WAITING' || state.status === 'PENDING')
  const changed = new Map(ends ? [[state.key, { ...state, status: 'CANCELLED', dueAt: null, finishedAt: now } as StepState]] : [])
  const effects: readonly Effect[] =
    ends && state.phase === 'GATE'
      ? [{ does: 'withdraw', approvalId: state.approvalId! }]
      : ends && state.phase === 'POLICY'
        ? [{ does: 'drop', policyId: state.policyId! }]
        : []
  return { run: { ...run, status: 'CANCELLED' }, changed, effects, wakeAt: null }
}

/** Stops a run whose parent was cancelled: as `cancel` does, and the call that has ended meanwhile is recorded. */
export function stop(plan: readonly PlanStep[], run: RunState, steps: ReadonlyMap<string, StepState>, seen: Seen): Walked {
  const stopped = cancel(plan, run, steps, seen.now)
  const { changed } = afterCancel(plan, run, steps, seen)
  return { ...stopped, changed: new Map([...stopped.changed, ...changed]) }
}
