import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOfAction } from '../../../subgraphs/agents/engines/run/canonical.ts'
import type { CallEnd, CallFailure } from '../../../subgraphs/agents/engines/run/interpret.ts'
import { type ApprovalState, isOver, type PolicyState, type RunState, type StepState } from '../../../subgraphs/agents/engines/run/state.ts'
import { cancel, type Effect, type Seen, stop, type Walked, walk } from '../../../subgraphs/agents/engines/run/walk.ts'
import type { Json, PlanStep } from '../../../subgraphs/agents/stores/workflow.ts'
import { nothingHeld } from '../../../subgraphs/agents/stores/workspace/kill-switch.ts'
import { gate, planStep } from './plans.ts'

type Answer = 'answers' | 'had no effect' | 'is unclear' | 'is refused for good' | 'dies'
type Word = 'APPROVED' | 'REJECTED' | 'silence' | 'silence approves'
/** What the other organization says, first of all that it takes longer where it is a hold. */
type Policy = 'ALLOW' | 'holds, then ALLOW' | 'DENY' | 'MISMATCH' | 'silence'

/** What the world does to a step: how its calls end in turn, what a person says, how its child ends. */
interface Fate {
  readonly calls: readonly Answer[]
  readonly word: Word
  readonly policy: Policy
  readonly childSucceeds: boolean
  readonly mayRepeat: boolean
}

interface World {
  readonly plan: readonly PlanStep[]
  readonly fates: readonly Fate[]
}

/** What a run shows of itself: its effects in order, its end, and what each step ended as. */
interface Shown {
  readonly effects: readonly string[]
  readonly status: string
  readonly code: string | null
  readonly ended: Readonly<Record<string, string>>
}

/** Runs a plan as one would by hand: no time, no waits, no rows. */
function byHand({ plan, fates }: World): Shown {
  const effects: string[] = []
  const ended: Record<string, string> = {}
  const over = (status: string, code: string | null): Shown => ({ effects, status, code, ended })
  for (let at = 0; at < plan.length; ) {
    const [step, fate] = [plan[at]!, fates[at]!]
    let code = null as string | null
    if (step.kind === 'REPORT') effects.push(`write ${step.key}`)
    if (step.kind === 'RUN') {
      effects.push(`start ${step.key}`)
      if (!fate.childSucceeds) code = 'CHILD_FAILED'
    }
    if (step.gate) {
      effects.push(`ask ${step.key}`)
      if (fate.word === 'REJECTED') code = 'APPROVAL_REJECTED'
      if (fate.word === 'silence') code = 'APPROVAL_EXPIRED'
    }
    if (step.counterparty && !code) {
      effects.push(`request ${step.key}`)
      code = codeOfPolicy[fate.policy]
    }
    if (step.kind === 'TOOL' && !code) code = callByHand(step, fate, effects)
    const fails = code !== null
    const isRefused = code?.startsWith('APPROVAL_') || code === 'POLICY_DENIED' || code === 'POLICY_EXPIRED'
    const isFalse = step.kind === 'BRANCH' && step.condition!.left !== step.condition!.right
    ended[step.key] = code === 'OUTCOME_UNKNOWN' ? 'UNKNOWN' : fails ? 'FAILED' : 'SUCCEEDED'
    if (fails && !(isRefused && step.otherwise)) return over('FAILED', code)
    const leadsTo = fails || isFalse ? step.otherwise : step.next
    if ((isFalse && leadsTo === null) || leadsTo === 'end') return over('SUCCEEDED', null)
    at = leadsTo === null ? at + 1 : plan.findIndex(({ key }) => key === leadsTo)
  }
  return over('SUCCEEDED', null)
}

const codeOfPolicy: Readonly<Record<Policy, string | null>> = {
  ...{ ALLOW: null, 'holds, then ALLOW': null, DENY: 'POLICY_DENIED', MISMATCH: 'POLICY_MISMATCH', silence: 'POLICY_EXPIRED' },
}

function callByHand(step: PlanStep, { calls, mayRepeat }: Fate, effects: string[]): string | null {
  for (let tries = 1; ; tries += 1) {
    effects.push(`call ${step.key} ${tries}`)
    const end = calls[tries - 1] ?? 'answers'
    if (end === 'answers') return null
    if (end === 'is refused for good') return 'TOOL_ERROR'
    if (end === 'dies' && mayRepeat) continue
    if (end === 'dies') return 'OUTCOME_UNKNOWN'
    if (!mayRepeat && end === 'is unclear') return 'OUTCOME_UNKNOWN'
    if (tries > step.retries) return 'UPSTREAM_FAILED'
  }
}

const endOfCall = (answer: Answer): CallEnd => {
  if (answer === 'answers') return { answer: { ok: true } }
  if (answer === 'dies') return 'interrupted'
  const failure: CallFailure = { hadNoEffect: answer === 'had no effect', code: 'UPSTREAM_FAILED', message: 'It failed.' }
  return { failure: answer === 'is refused for good' ? { ...failure, code: 'TOOL_ERROR', isFinal: true } : failure }
}

/** The same plan by the interpreter, looked at again and again: too early, too late, and while it is held. */
class Stage {
  readonly effects: string[] = []
  readonly steps = new Map<string, StepState>()
  readonly world: World
  run: RunState = { status: 'QUEUED', cursor: 0, input: {}, output: null, failure: null }
  now = new Date('2027-03-01T09:30:00Z')
  wakeAt: Date | null = new Date('2027-03-01T09:30:00Z')
  approval: ApprovalState | null = null
  policy: PolicyState | null = null
  ids = 0

  constructor(world: World) {
    this.world = world
  }

  private fateOf(key: string): Fate {
    return this.world.fates[this.world.plan.findIndex(step => step.key === key)]!
  }

  private seen(more: Partial<Seen>): Seen {
    return {
      ...{ now: this.now, held: nothingHeld, hasRoom: true, approval: this.approval, asksPolicy: true, policy: this.policy, child: null, call: null },
      ...{ children: { runs: [], outputs: new Map() }, toolRuns: [], pinned: null },
      childPlan: () => 'a plan',
      newId: () => `id-${this.ids++}`,
      tool: ({ key }) => ({ permission: 'AUTO', risk: 'LOW', counterparty: null, readOnly: false, mayRepeat: this.fateOf(key).mayRepeat }),
      ...more,
    }
  }

  look(more: Partial<Seen> = {}): void {
    this.take(walk(this.world.plan, this.run, this.steps, this.seen(more)))
  }

  /** Looks at it after its parent was cancelled. */
  stopBelow(more: Partial<Seen>): void {
    this.take(stop(this.world.plan, this.run, this.steps, this.seen(more)))
  }

  stop(): void {
    this.take(cancel(this.world.plan, this.run, this.steps, this.now))
  }

  private take({ run, changed, effects, wakeAt }: Walked): void {
    this.run = run
    this.wakeAt = wakeAt
    for (const [key, state] of changed) this.steps.set(key, state)
    for (const effect of effects) this.note(effect)
  }

  private note(effect: Effect): void {
    if (effect.does === 'expire') this.approval = { ...this.approval!, status: 'EXPIRED' }
    if (effect.does === 'escalate') this.approval = { ...this.approval!, escalatedAt: this.now }
    if (effect.does === 'ask') {
      const { gate, action } = effect
      const expiresAt = new Date(this.now.getTime() + gate.expiresInSeconds * 1_000)
      const { onExpiry } = gate
      this.approval = {
        status: 'PENDING',
        arguments: action.arguments,
        argumentsHash: hashOfAction(action),
        response: null,
        ...{ onExpiry, expiresAt, escalateAt: null, escalatedAt: null },
      }
    }
    if (effect.does === 'lapse') this.policy = { ...this.policy!, decision: 'EXPIRED' }
    if (effect.does === 'request') {
      const { action, expiresAt } = effect
      this.policy = { decision: 'PENDING', counterparty: action.counterparty!, actionHash: hashOfAction(action), reason: null, expiresAt }
      this.effects.push(`request ${effect.step.key}`)
    }
    if (effect.does === 'call') this.effects.push(`call ${effect.step.key} ${effect.state.tries}`)
    if (effect.does === 'ask' || effect.does === 'start' || effect.does === 'write') this.effects.push(`${effect.does} ${effect.step.key}`)
  }

  /** What happens next in the world: a call ends, a person speaks, a child ends, or time passes. */
  happen(): void {
    const { key } = this.world.plan[this.run.cursor]!
    const state = this.steps.get(key)
    const fate = this.fateOf(key)
    if (state?.status === 'RUNNING') {
      this.look({ call: endOfCall(fate.calls[state.tries - 1] ?? 'answers') })
      return
    }
    if (this.run.status === 'WAITING_APPROVAL' && (fate.word === 'APPROVED' || fate.word === 'REJECTED')) {
      this.approval = { ...this.approval!, status: fate.word }
      this.look()
      return
    }
    if (this.run.status === 'WAITING_POLICY' && fate.policy !== 'silence') {
      const isFirst = this.policy!.decision === 'PENDING'
      const decision = fate.policy === 'holds, then ALLOW' ? (isFirst ? 'HOLD' : 'ALLOW') : fate.policy
      this.policy = { ...this.policy!, decision }
      this.look()
      return
    }
    if (state?.childRunId && state.status === 'WAITING') {
      const child = { status: fate.childSucceeds ? 'SUCCEEDED' : 'FAILED', output: { child: key }, failure: null } as const
      this.look({ child })
      return
    }
    if (!this.wakeAt) throw new Error(`the run waits for nothing at ${key}, ${this.run.status}`)
    this.now = new Date(Math.max(this.now.getTime(), this.wakeAt.getTime()))
    this.look()
  }

  get shown(): Shown {
    const ended = Object.fromEntries([...this.steps].map(([key, { status }]) => [key, status]))
    return { effects: this.effects, status: this.run.status, code: this.run.failure?.code ?? null, ended }
  }
}

const fate: fc.Arbitrary<Fate> = fc.record({
  calls: fc.array(fc.constantFrom<Answer>('answers', 'had no effect', 'is unclear', 'is refused for good', 'dies'), { maxLength: 5 }),
  word: fc.constantFrom<Word>('APPROVED', 'REJECTED', 'silence', 'silence approves'),
  policy: fc.constantFrom<Policy>('ALLOW', 'holds, then ALLOW', 'DENY', 'MISMATCH', 'silence'),
  childSucceeds: fc.boolean(),
  mayRepeat: fc.boolean(),
})

const world: fc.Arbitrary<World> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('TOOL', 'TOOL', 'DELAY', 'BRANCH', 'APPROVAL', 'RUN', 'REPORT'),
      isGated: fc.boolean(),
      isForeign: fc.boolean(),
      next: fc.option(fc.nat(3)),
      otherwise: fc.option(fc.nat(3)),
      right: fc.nat(1),
      retries: fc.nat(3),
      fate,
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map(drawn => {
    const target = (at: number, ahead: number | null) => (ahead === null ? null : at + 1 + ahead < drawn.length ? `s${at + 1 + ahead}` : 'end')
    const plan = drawn.map(({ kind, isGated, isForeign, next, otherwise, right, retries, fate }, at) =>
      planStep(kind as PlanStep['kind'], `s${at}`, {
        ...{ next: target(at, next), otherwise: target(at, otherwise), retries, connectorId: 'c', tool: 't', seconds: 5, text: 'Text', workflowId: 'w' },
        condition: { left: 1, operator: 'EQUALS', right },
        counterparty: kind === 'TOOL' && isForeign ? 'peer' : null,
        gate: kind === 'APPROVAL' || (kind === 'TOOL' && isGated) ? gate({ onExpiry: fate.word === 'silence approves' ? 'APPROVE' : 'REJECT' }) : null,
      }),
    )
    return { plan, fates: drawn.map(({ fate }) => fate) }
  })

/** What somebody does to a run between two things that happen. */
const disturbance = fc.constantFrom('nothing', 'looks too early', 'holds it', 'lets an hour pass')

describe('the interpreter of plans', () => {
  it('does the same effects in the same order as a plan run by hand, and ends alike, however often and whenever it is looked at', () => {
    fc.assert(
      fc.property(world, fc.array(disturbance, { maxLength: 30 }), (world, disturbances) => {
        const stage = new Stage(world)
        stage.look()
        for (let turn = 0; !isOver(stage.run.status); turn += 1) {
          if (turn > 200) throw new Error('the run does not end')
          const state = stage.steps.get(world.plan[stage.run.cursor]!.key)
          const disturbance = disturbances[turn] ?? 'nothing'
          // What is called is looked at only when the call has ended; whoever else comes finds its lease.
          if (state?.status !== 'RUNNING') {
            if (disturbance === 'looks too early') stage.look()
            if (disturbance === 'holds it') stage.look({ held: { ...nothingHeld, all: true } })
          }
          if (disturbance === 'lets an hour pass' && stage.run.status === 'WAITING_TIMER') stage.now = new Date(stage.now.getTime() + 3_600_000)
          if (!isOver(stage.run.status)) stage.happen()
        }
        expect(stage.shown).toEqual(byHand(world))
      }),
      { numRuns: 3_000 },
    )
  })

  it('begins nothing after it is cancelled, and its steps still tell what was executed', () => {
    fc.assert(
      fc.property(world, fc.nat(12), (world, at) => {
        const stage = new Stage(world)
        stage.look()
        for (let turn = 0; turn < at && !isOver(stage.run.status); turn += 1) stage.happen()
        fc.pre(!isOver(stage.run.status))
        const before = [...stage.effects]
        const { key } = world.plan[stage.run.cursor]!
        const called = stage.steps.get(key)?.status === 'RUNNING'
        stage.stop()
        if (called) stage.happen()
        else stage.look()
        expect(stage.effects).toEqual(before)
        expect(byHand(world).effects.slice(0, before.length)).toEqual(before)
        expect(stage.run.status).toBe('CANCELLED')
        expect([...stage.steps.values()].map(({ status }) => status)).not.toContain('RUNNING')
        expect([...stage.steps.values()].map(({ status }) => status)).not.toContain('WAITING')
      }),
      { numRuns: 1_500 },
    )
  })

  it.each([
    ['answers', 'SUCCEEDED'],
    ['had no effect', 'CANCELLED'],
    ['is unclear', 'UNKNOWN'],
    ['dies', 'UNKNOWN'],
  ] as const)('records of a run whose parent was cancelled that its call %s', (answer, status) => {
    const plan = [planStep('TOOL', 'only', { connectorId: 'c', tool: 't', arguments: { a: 1 } }), planStep('REPORT', 'after', { text: 'After.' })]
    const fate: Fate = { calls: [], word: 'APPROVED', policy: 'ALLOW', childSucceeds: true, mayRepeat: false }
    const stage = new Stage({ plan, fates: [fate, fate] })
    stage.look()
    stage.stopBelow({ call: endOfCall(answer) })
    expect([stage.run.status, stage.steps.get('only')?.status, stage.effects]).toEqual(['CANCELLED', status, ['call only 1']])
  })

  it('fails the step when a template leads to nothing, and hands outputs on with their JSON type', () => {
    const plan = [
      planStep('TOOL', 'first', { connectorId: 'c', tool: 't', arguments: { n: '{{input.n}}', text: 'n is {{input.n}}' } }),
      planStep('TOOL', 'second', { connectorId: 'c', tool: 't', arguments: { ok: '{{steps.first.output.ok}}', none: '{{steps.first.output.none}}' } }),
    ]
    const stage = new Stage({
      plan,
      fates: [0, 1].map(() => ({ calls: [], word: 'APPROVED' as const, policy: 'ALLOW' as const, childSucceeds: true, mayRepeat: false, readOnly: false })),
    })
    stage.run = { ...stage.run, input: { n: 7 } as Json }
    stage.look()
    expect(stage.steps.get('first')?.input).toEqual({ n: 7, text: 'n is 7' })
    stage.happen()
    expect(stage.shown).toMatchObject({ status: 'FAILED', code: 'TEMPLATE_MISSING', ended: { first: 'SUCCEEDED', second: 'FAILED' } })
  })

  it('executes nothing when the approved arguments are not those of the approved hash', () => {
    const plan = [planStep('TOOL', 'only', { connectorId: 'c', tool: 't', arguments: { a: 1 }, gate: gate() })]
    const stage = new Stage({ plan, fates: [{ calls: [], word: 'APPROVED', policy: 'ALLOW', childSucceeds: true, mayRepeat: false }] })
    stage.look()
    stage.approval = { ...stage.approval!, status: 'APPROVED', arguments: { a: 2 } }
    stage.look()
    expect(stage.shown).toMatchObject({ effects: ['ask only'], status: 'FAILED', code: 'NOT_PERMITTED' })
  })

  it('executes nothing when the connector has another owner by the time that the allowance arrives, or nobody can be asked', () => {
    const plan = [planStep('TOOL', 'only', { connectorId: 'c', tool: 't', arguments: { a: 1 } })]
    const fates: readonly Fate[] = [{ calls: [], word: 'APPROVED', policy: 'ALLOW', childSucceeds: true, mayRepeat: false }]
    const ofPeer = (counterparty: string | null) => ({
      tool: () => ({ permission: 'AUTO', risk: 'LOW', counterparty, mayRepeat: false, readOnly: false }) as const,
    })
    const moved = new Stage({ plan, fates })
    moved.look(ofPeer('one.peer'))
    moved.policy = { ...moved.policy!, decision: 'ALLOW' }
    moved.look(ofPeer('other.peer'))
    expect(moved.shown).toMatchObject({ effects: ['request only'], status: 'FAILED', code: 'NOT_PERMITTED' })
    const alone = new Stage({ plan, fates })
    alone.look({ ...ofPeer('one.peer'), asksPolicy: false })
    expect(alone.shown).toMatchObject({ effects: [], status: 'FAILED', code: 'NOT_PERMITTED' })
  })
})
