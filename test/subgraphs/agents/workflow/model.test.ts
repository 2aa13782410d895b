import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import { shared } from '../../../kit/shared.ts'
import { gate, planStep } from '../../../rules/agents/plans.ts'
import { byHand, Fates, type Shown } from './by-hand.ts'
import { seedWorkflow } from './seed.ts'
import { decideAll, lookAfter, openTales, runsOf, settle, type Tale } from './tale.ts'

// Whatever plans run, however their calls end, whatever people and other organizations say and when, which processes die, and however the time
// jumps: a plain interpreter says what each run calls and in which order, and how it ends.

/** How many random tales are told: more where time does not matter. */
const numRuns = Number(process.env.RUN_SEQUENCES ?? 30)
const tales = shared(openTales)
const words = ['ant', 'bee', 'cat', 'doe', 'elk']

const { boolean, constantFrom, integer, nat, record } = fc
const seldom = (times: number) => nat(times - 1).map(n => n === 0)
const stepOf = record({
  kind: constantFrom('TOOL', 'TOOL', 'TOOL', 'APPROVAL', 'DELAY', 'BRANCH', 'RUN', 'MAP', 'MAP', 'REPORT', 'MODEL'),
  ...{ idempotent: boolean(), gated: seldom(3), crosses: seldom(4), expires: constantFrom('REJECT' as const, 'APPROVE' as const), escalates: boolean() },
  ...{ leads: seldom(2), to: nat(9), holds: boolean(), which: nat(2), items: nat(5), concurrency: integer({ min: 1, max: 3 }), skips: boolean() },
  ...{ retries: nat(2), seconds: constantFrom(1, 7, 20) },
})
type StepOf = typeof stepOf extends fc.Arbitrary<infer Given> ? Given : never
const roundOf = record({ seconds: constantFrom(1, 3, 5, 13, 40, 240), isPrompt: boolean(), holds: seldom(6), cancels: seldom(25), together: boolean() })

/** A step of a plan, that may lead to a later one. */
function planOf(given: readonly StepOf[]): readonly PlanStep[] {
  const { connectorId, workflowIds } = tales()
  const keyAt = (at: number) => (at < given.length ? `s${at}` : 'end')
  return given.map((step, at) => {
    const key = keyAt(at)
    const { which, retries, kind } = step
    const otherwise = step.leads ? keyAt(at + 1 + (step.to % (given.length - at))) : null
    const text = `${key} of {{input.word}}`
    const asks = gate({ allowed: ['APPROVE', 'EDIT', 'REJECT'], onExpiry: step.expires, escalateAfterSeconds: step.escalates ? 30 : null })
    const below = { workflowId: workflowIds[which % workflowIds.length]!, arguments: { word: '{{input.word}}', of: key } }
    switch (kind) {
      case 'TOOL': {
        const counterparty = step.crosses ? 'other.peer' : null
        const call = { connectorId, tool: step.idempotent ? 'create_note' : 'send_letter', arguments: { text }, counterparty, policyTimeoutSeconds: 600 }
        return planStep('TOOL', key, { ...call, retries, otherwise, gate: step.gated ? asks : null })
      }
      case 'APPROVAL':
        return planStep('APPROVAL', key, { arguments: { text }, gate: asks, otherwise })
      case 'DELAY':
        return planStep('DELAY', key, { seconds: step.seconds })
      case 'BRANCH':
        return planStep('BRANCH', key, { condition: { left: 1, operator: 'EQUALS', right: step.holds ? 1 : 2 }, otherwise })
      case 'RUN':
        return planStep('RUN', key, below)
      case 'MAP': {
        const list = {
          list: `{{input.lists.${step.items}}}`,
          itemName: 'item',
          concurrency: step.concurrency,
          onItemFailure: step.skips ? 'SKIP' : 'STOP',
        } as const
        return planStep('MAP', key, { ...below, ...list, arguments: { word: '{{item}}', of: key } })
      }
      case 'MODEL':
        return planStep('MODEL', key, { agentId: connectorId, prompt: text, retries })
      default:
        return planStep('REPORT', key, { text })
    }
  })
}

/** Lists of no item, of one, and so on. */
const lists = [0, 1, 2, 3, 4, 5].map(items => words.slice(0, items))

/** Without what is drawn at random. */
const plain = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(plain)
  if (value === null || typeof value !== 'object') return value
  const { id: _, ...rest } = value as Record<string, Json>
  return rest
}

/** What a run shows by its rows. */
async function shownBy(tale: Tale, run: { id: string; path: string; status: string; code: string | null; output: Json }): Promise<Shown> {
  const { graph } = tales()
  const wrote = await graph.rows<{ title: string }>(`select title from agents.work_feed where run_id = $1 and kind = 'REPORT_WRITTEN' order by title`, [run.id])
  const asked = await graph.rows<{ key: string }>(
    'select s.key from agents.approvals a join agents.run_steps s on s.run_id = a.run_id and s.id = a.step_id where a.run_id = $1 order by s.key',
    [run.id],
  )
  return {
    ...{ status: run.status as Shown['status'], code: run.code, output: plain(run.output), calls: tale.calls.get(run.path) ?? [] },
    ...{ wrote: wrote.map(({ title }) => title), asked: asked.map(({ key }) => key) },
  }
}

const sorted = ({ wrote, asked, output, ...shown }: Shown): Shown => ({ ...shown, output: plain(output), wrote: [...wrote].sort(), asked: [...asked].sort() })

/** What the plain interpreter says of a tale. */
async function expectedOf(tale: Tale, plan: readonly PlanStep[]): Promise<ReadonlyMap<string, Shown>> {
  const { planOf: plans } = tales()
  const runs = await runsOf(tales(), tale.id)
  const began = (key: string, attempt: number) =>
    runs
      .flatMap(({ path }) => (path.startsWith(`${key}.`) && path.endsWith(`#${attempt}`) ? [Number(path.slice(key.length + 1).split('#')[0])] : []))
      .sort((a, b) => a - b)
  const known = { fates: tale.fates, planOf: plans, mayRepeat: ({ tool, kind }: PlanStep) => kind === 'MODEL' || tool === 'create_note', began }
  const { below, ...outer } = byHand(plan, known, '', { word: 'own', lists })
  return new Map([['', sorted(outer)], ...[...below].map(([path, shown]) => [path, sorted(shown)] as const)])
}

async function check(tale: Tale, plan: readonly PlanStep[]): Promise<void> {
  const runs = await runsOf(tales(), tale.id)
  const shown = new Map(await Promise.all(runs.map(async run => [run.path, await shownBy(tale, run)] as const)))
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(await expectedOf(tale, plan)))
}

/** After a cancellation every run of the tale has ended. */
async function checkCancelled(tale: Tale): Promise<void> {
  const runs = await runsOf(tales(), tale.id)
  const open = runs.filter(({ status }) => !['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status))
  expect([runs.find(({ path }) => path === '')!.status, open]).toEqual(['CANCELLED', []])
}

/** Nothing of a run that has ended is left open. */
async function checkClosed(tale: Tale): Promise<void> {
  const { graph } = tales()
  const ids = (await runsOf(tales(), tale.id)).map(({ id }) => id)
  const left = await graph.rows(
    `select 'step ' || status as what from agents.run_steps where run_id = any($1::uuid[]) and status in ('RUNNING', 'WAITING')
     union all select 'approval' from agents.approvals where run_id = any($1::uuid[]) and status = 'PENDING'
     union all select 'request' from agents.policy_requests where run_id = any($1::uuid[]) and next_at is not null
     union all select 'claim' from agents.runs where id = any($1::uuid[]) and (claim_id is not null or wake_at is not null)`,
    [ids],
  )
  expect(left).toEqual([])
}

/** Whether everything of a run has ended. A call whose answer was lost is given up once its lease is over, in a cancelled run too. */
async function isOver(tale: Tale): Promise<boolean> {
  const runs = await runsOf(tales(), tale.id)
  const claimed = await tales().graph.rows('select 1 from agents.runs where id = any($1::uuid[]) and claim_id is not null', [runs.map(({ id }) => id)])
  return claimed.length === 0 && runs.every(({ status }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(status))
}

test('every run calls, asks and writes what a plain interpreter says, in its order, and ends as it does', async () => {
  const world = tales()
  const { graph, mutate, organizationId } = world
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(nat(), fc.array(stepOf, { minLength: 1, maxLength: 6 }), fc.array(roundOf, { maxLength: 12 }), async (seed, given, rounds) => {
      const plan = planOf(given)
      for (const { kind } of plan) kinds.add(kind)
      const { id: workflowId } = await seedWorkflow(graph, { organizationId, steps: plan })
      const input = { word: 'own', lists }
      const { id } = (await mutate('startRun', { workflowId, input })).data().startRun
      const tale: Tale = { id, fates: new Fates(seed), calls: new Map(), lost: new Map(), seen: new Map(), failures: 0 }
      world.tales.set(id, tale)
      let [isCancelled, calledBefore] = [false, 0]
      const called = () => [...tale.calls.values()].flat().length
      const pass = async (seconds: number, isPrompt: boolean, together = false) => {
        if (together) await Promise.all([settle(world, tale), decideAll(world, tale, isPrompt)])
        await settle(world, tale)
        await decideAll(world, tale, isPrompt)
        const isLookedAfter = !isCancelled && (await lookAfter(world, tale))
        await settle(world, tale)
        await graph.clock.advance(seconds * 1_000)
        return isLookedAfter
      }
      for (const { seconds, isPrompt, holds, cancels, together } of rounds) {
        if (cancels && !isCancelled) {
          isCancelled = (await mutate('cancelRun', { id })).code === undefined
          calledBefore = called()
        }
        const before = called()
        if (holds) await mutate('setKillSwitch', { engaged: true })
        await pass(seconds, isPrompt, together)
        if (!holds) continue
        expect(called(), 'calls that began while everything was held').toBe(before)
        await mutate('setKillSwitch', { engaged: false })
      }
      for (let more = 0; more < 100; more += 1) {
        const wasOver = await isOver(tale)
        if (!(await pass(more % 3 === 0 ? 5 : 240, true)) && wasOver) break
      }
      await (isCancelled ? checkCancelled(tale) : check(tale, plan))
      if (isCancelled) expect(called(), 'calls that began after the cancellation').toBe(calledBefore)
      await checkClosed(tale)
    }),
    { numRuns, endOnFailure: true },
  )
  if (numRuns >= 30) expect([...kinds].sort()).toEqual(['APPROVAL', 'BRANCH', 'DELAY', 'MAP', 'MODEL', 'REPORT', 'RUN', 'TOOL'])
}, 3_600_000)
