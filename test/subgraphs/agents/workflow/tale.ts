import { expect } from 'vitest'
import type { Job } from '../../../../subgraphs/agents/context.ts'
import { decidePolicy } from '../../../../subgraphs/agents/engines/policy/decide.ts'
import type { SaidDecision } from '../../../../subgraphs/agents/engines/policy/rules.ts'
import type { CallEnd } from '../../../../subgraphs/agents/engines/run/interpret.ts'
import { openRunner } from '../../../../subgraphs/agents/engines/run/runner.ts'
import { isOver } from '../../../../subgraphs/agents/engines/run/state.ts'
import type { Calling } from '../../../../subgraphs/agents/engines/run/work.ts'
import type { ToolRow } from '../../../../subgraphs/agents/stores/connector.ts'
import type { RunStatus } from '../../../../subgraphs/agents/stores/run/run.ts'
import type { RoundRow } from '../../../../subgraphs/agents/stores/run/step.ts'
import type { Json, PlanStep } from '../../../../subgraphs/agents/stores/workflow.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { gate, planStep } from '../../../rules/agents/plans.ts'
import { seedConnector } from '../connector/seed.ts'
import { callLine, editedArguments, type Fates, resolvedOutput, type WantedTool, wantedArguments } from './by-hand.ts'
import { seedWorkflow } from './seed.ts'

/** What a call that is lost with its process looks like to everybody else: nothing comes after it. */
const powerFailure = new Error('power failure')

const tool = (name: string, idempotent: boolean): ToolRow => ({
  ...{ name, title: null, description: null, inputSchema: {}, permission: 'AUTO', risk: 'LOW' },
  ...{ readOnly: false, idempotent },
})

/** A run of a tale: its row, and its path below the outer run. */
export interface ToldRun {
  readonly id: string
  readonly path: string
  readonly parentId: string | null
  readonly status: RunStatus
  readonly code: string | null
  readonly output: Json
}

/** One outer run and all that happens to it and below it. */
export interface Tale {
  readonly id: string
  readonly fates: Fates
  /** Calls of each run, by its path. */
  readonly calls: Map<string, string[]>
  /** Runs whose call was lost with its process, and the claim under which it was made. */
  readonly lost: Map<string, string>
  /** Approvals and requests that were seen before, with how often. */
  readonly seen: Map<string, number>
  failures: number
}

const mutations = {
  decideApproval: 'DecideApproval',
  cancelRun: 'CancelRun',
  retryRun: 'RetryRun',
  resolveStep: 'ResolveStep',
  startRun: 'StartRun',
  setKillSwitch: 'SetKillSwitch',
}

/** Where tales are told. */
interface World {
  readonly graph: Supergraph
  readonly connectorId: string
  /** Under the ids of their outer runs. */
  readonly tales: Map<string, Tale>
}

/** Two processes that take runs on, over the same rows. Only what a tale drives happens, because the time stands still. */
export async function openTales() {
  const graph = await supergraph({ sandbox: true })
  const { owner } = await graph.seed.owner()
  const organizationId = owner.organizationId!
  const connectorId = await seedConnector(graph, organizationId, { tools: [tool('create_note', true), tool('send_letter', false)] })
  const call = { connectorId, arguments: { text: '{{input.word}}' } }
  const told = (key: string) => ({ arguments: { text: `${key} of {{input.word}}` } })
  const inner = {
    leaf: [planStep('TOOL', 'note', { ...call, ...told('note'), tool: 'create_note' }), planStep('REPORT', 'told', { text: 'told of {{input.word}}' })],
    slow: [planStep('DELAY', 'wait', { seconds: 5 }), planStep('TOOL', 'letter', { ...call, ...told('letter'), tool: 'send_letter', retries: 1 })],
    gated: [planStep('TOOL', 'gated', { ...call, ...told('gated'), tool: 'create_note', gate: gate({ allowed: ['APPROVE', 'EDIT', 'REJECT'] }) })],
  }
  const planOf = new Map<string, readonly PlanStep[]>()
  for (const steps of Object.values(inner)) planOf.set((await seedWorkflow(graph, { organizationId, steps })).id, steps)
  const tales = new Map<string, Tale>()
  const world = { graph, owner, organizationId, connectorId, planOf, workflowIds: [...planOf.keys()], tales }
  // What the platform itself would take on is left to the two.
  await graph.platform.agents.job('runs').runner.stop()
  // Stores are opened when they are first used, so a copy would have none.
  const job = (): Job => Object.create(graph.platform.agents.job('runs'), { call: { value: (calling: Calling) => makeCall(world, calling) } })
  return {
    ...world,
    processes: [openRunner(job), openRunner(job)],
    mutate: (name: keyof typeof mutations, input: object, as: Viewer = owner) =>
      graph.execute(`mutation($input: ${mutations[name]}Input!) { ${name}(input: $input) { id } }`, { input }, { as }),
    [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose](),
  }
}

export type Tales = Awaited<ReturnType<typeof openTales>>

/** The runs of a tale with their paths: a list's items by their place, other children by how many of their step there were before. */
export async function runsOf({ graph }: Pick<World, 'graph'>, taleId: string): Promise<readonly ToldRun[]> {
  const rows = await graph.rows<Omit<ToldRun, 'path'> & { item: number | null; attempt: number | null; key: string | null }>(
    `select r.id, r.parent_id as "parentId", r.status, r.failure_code as code, r.output, r.item_index::int as item, r.parent_attempt as attempt,
       r.input->>'of' as key
     from agents.runs r where r.id = $1 or r.parent_id = $1 order by r.created_at, r.id`,
    [taleId],
  )
  const before = new Map<string, number>()
  return rows.map(({ item, attempt, key, ...row }) => {
    if (row.parentId === null) return { ...row, path: '' }
    if (item !== null) return { ...row, path: `${key}.${item}#${attempt}` }
    before.set(key!, (before.get(key!) ?? 0) + 1)
    return { ...row, path: `${key}#${before.get(key!)}` }
  })
}

/** The other side of every call. */
async function makeCall(world: World, { run, claimId, step, state }: Calling): Promise<CallEnd> {
  const tale = world.tales.get(run.parentId ?? run.id)!
  const { path } = (await runsOf(world, tale.id)).find(({ id }) => id === run.id)!
  const calls = tale.calls.get(path) ?? []
  tale.calls.set(path, calls)
  const round = state.rounds?.length ?? 0
  const name = step.kind === 'MODEL' ? `${step.key}~${round}` : step.key
  calls.push(callLine(name, state.attempt, state.tries, state.input))
  const fate = tale.fates.call(path, name, state.attempt, state.tries)
  if (fate === 'dies before' || fate === 'dies after') {
    tale.lost.set(run.id, claimId)
    throw powerFailure
  }
  const wanted = step.kind === 'MODEL' ? tale.fates.rounds(step.key) : []
  if (fate === 'answers' && round < wanted.length) return { round: roundOf(world.connectorId, step.key, wanted, round) }
  if (fate === 'answers') return { answer: { done: step.key } }
  const failure = { hadNoEffect: fate === 'no effect', message: 'It failed.' }
  return { failure: fate === 'final' ? { ...failure, code: 'TOOL_ERROR', isFinal: true } : { ...failure, code: 'UPSTREAM_FAILED' } }
}

/** What a model says that wants tools called. */
function roundOf(connectorId: string, key: string, wanted: readonly (readonly WantedTool[])[], round: number): RoundRow {
  const place = wanted.slice(0, round).flat().length
  const call = (tool: WantedTool, at: number) => ({
    ...{ id: `${round}.${at}`, name: tool, arguments: wantedArguments(key, place + at), risk: 'LOW' as const, asks: tool === 'create_note, asked for' },
    ...(tool === 'none' ? { connectorId: null, tool: null, result: 'There is no such tool.' } : { connectorId, tool: tool.split(',')[0]!, result: null }),
  })
  return { text: '', calls: wanted[round]!.map(call) }
}

/** Has both processes take on what is due, until nothing is. */
export async function settle({ graph, processes }: Tales, tale: Tale): Promise<void> {
  const under = async () => {
    await Promise.all(processes.map(({ sweep }) => sweep.run()))
    const left = await graph.rows<{ id: string; claimId: string | null; isDue: boolean }>(
      `select id, claim_id as "claimId", wake_at <= $2 as "isDue" from agents.runs where (id = $1 or parent_id = $1) and (wake_at <= $2 or claim_id is not null)`,
      [tale.id, graph.clock.now()],
    )
    return left.filter(({ id, claimId, isDue }) => isDue || tale.lost.get(id) !== claimId).map(({ id }) => id)
  }
  await expect.poll(under, { timeout: 20_000, interval: 5 }).toEqual([])
}

/** Decides whatever is asked and was not put off: at first sight, or at the second. A person who repeats a decision is refused. */
export async function decideAll(tales: Tales, tale: Tale, isPrompt: boolean): Promise<void> {
  const { graph, mutate } = tales
  const runs = await runsOf(tales, tale.id)
  const mayWait = (id: string) => {
    const times = tale.seen.get(id) ?? 0
    tale.seen.set(id, times + 1)
    return times === 0 && !isPrompt
  }
  const pending = (table: string, open: string) =>
    graph.rows<{ id: string; runId: string; hash: string; key: string; attempt: number }>(
      `select a.id, a.run_id as "runId", a.hash, s.key, s.attempt from (select *, ${table === 'approvals' ? 'arguments_hash' : 'action_hash'} as hash from agents.${table}) a
       join agents.run_steps s on s.run_id = a.run_id and s.id = a.step_id where a.run_id = any($1::uuid[]) and ${open}`,
      [runs.flatMap(({ id, status }) => (isOver(status) ? [] : [id]))],
    )
  const pathOf = (runId: string) => runs.find(({ id }) => id === runId)!.path
  const now = graph.clock.now()
  for (const { id, runId, hash, key, attempt } of await pending('approvals', `a.status = 'PENDING' and a.expires_at > '${now.toISOString()}'`)) {
    const word = tale.fates.word(pathOf(runId), key, attempt)
    if (word === 'silence' || mayWait(id)) continue
    const input = { id, argumentsHash: hash, decision: word, ...(word === 'EDIT' && { arguments: editedArguments }) }
    const codes = (await Promise.all([mutate('decideApproval', input), mutate('decideApproval', input)])).map(({ code }) => code ?? 'decided')
    expect(codes.toSorted()).toEqual(['CONFLICT', 'decided'])
  }
  const isOpen = `a.decision in ('PENDING', 'HOLD') and a.expires_at > '${now.toISOString()}'`
  for (const { id, runId, hash, key, attempt } of await pending('policy_requests', isOpen)) {
    const fate = tale.fates.policy(pathOf(runId), key, attempt)
    const waits = fate !== 'silence' && mayWait(id)
    const say = (decision: SaidDecision['decision'], actionHash: string) =>
      decidePolicy(graph.platform.agents.job('policy'), id, { decision, actionHash, reason: null, policyVersion: null })
    if (fate === 'hold, then allow') await say('hold', hash)
    if (fate === 'silence' || waits) continue
    if (fate === 'mismatch') await say('allow', `sha256:${'0'.repeat(64)}`)
    else await Promise.all([say(fate === 'deny' ? 'deny' : 'allow', hash), say(fate === 'deny' ? 'deny' : 'allow', hash)])
  }
}

/** Does what somebody does about an outer run that has failed: looks whether it happened, and retries it. @returns whether there was anything to do */
export async function lookAfter(tales: Tales, tale: Tale): Promise<boolean> {
  const { graph, mutate } = tales
  const [failed] = await graph.rows<{ code: string; key: string; stepId: string; attempt: number }>(
    `select r.failure_code as code, s.key, s.id as "stepId", s.attempt from agents.runs r join agents.run_steps s on s.run_id = r.id and s.key = r.failure_step_key
     where r.id = $1 and r.status = 'FAILED' and s.status in ('FAILED', 'UNKNOWN')`,
    [tale.id],
  )
  if (!failed) return false
  const { code, key, stepId, attempt } = failed
  if (tale.seen.has(`${stepId} ${attempt}`)) return false
  tale.seen.set(`${stepId} ${attempt}`, 1)
  tale.failures += 1
  // Runs that one step begins are distinguished by their creation times.
  await graph.clock.advance(1)
  if (code === 'OUTCOME_UNKNOWN') {
    expect((await mutate('retryRun', { id: tale.id })).code).toBe('CONFLICT')
    const happened = tale.fates.happened(key, attempt)
    expect((await mutate('resolveStep', { stepId, happened, ...(happened && { output: resolvedOutput }) })).code).toBeUndefined()
    if (happened) return true
  }
  if (tale.fates.retries(tale.failures)) await retry(tales, tale)
  return true
}

/** Retries an outer run, once it is known what became of every step of the runs below that would be repeated. */
async function retry({ graph, mutate }: Tales, tale: Tale): Promise<void> {
  const paths = new Map((await runsOf({ graph }, tale.id)).map(({ id, path }) => [id, path]))
  for (const known = new Set<string>(); ; ) {
    const answer = await mutate('retryRun', { id: tale.id })
    if (answer.code === undefined) return
    const stepId = answer.refused('CONFLICT').extensions.stepId as string
    expect(known, 'steps that were resolved before').not.toContain(stepId)
    known.add(stepId)
    const [step] = await graph.rows<{ runId: string; attempt: number }>('select run_id as "runId", attempt from agents.run_steps where id = $1', [stepId])
    const happened = tale.fates.happened(paths.get(step!.runId)!, step!.attempt)
    expect((await mutate('resolveStep', { stepId, happened, ...(happened && { output: resolvedOutput }) })).code).toBeUndefined()
  }
}
