import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../kit/launch.ts'
import { type Office, openOffice } from './workers.ts'

const wanted = Boolean(process.env.CHAOS)
if (!wanted) console.warn('kills of workers of agents are left out, they take some minutes: npm run test:chaos')

const kills = Number(process.env.KILLS ?? 40)
const runsEachKill = 5

/** Numbers from 0 to 1 by a seed, so that each run of the test kills at the same moments. */
function numbersFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

// Tried more often than anybody is unlucky, and given up soon by us.
const patient = { retries: 5, timeoutSeconds: 3 }
const note = (key: string, connectorId: string, text: string) => ({ key, kind: 'TOOL', connectorId, tool: 'create_note', arguments: { text }, ...patient })
const report = (key: string, text: string) => ({ key, kind: 'REPORT', title: key, text })

/** What the others are made of, by the name of the plan. */
const innerPlans = (connectorId: string) => ({
  inner: [note('below', connectorId, 'below {{input.name}}'), { key: 'wait', kind: 'DELAY', seconds: 1 }],
})
const plans = (connectorId: string, agentId: string, inner: string) => ({
  tool: [note('note', connectorId, 'note {{input.name}}'), report('told', 'Told {{input.name}}')],
  letter: [
    { key: 'letter', kind: 'TOOL', connectorId, tool: 'send_letter', arguments: { to: 'Ada', text: 'letter {{input.name}}' }, ...patient },
    report('sent', 'Sent {{input.name}}'),
  ],
  gate: [
    { ...note('gated', connectorId, 'gated {{input.name}}'), gate: { title: 'May it?' } },
    { key: 'ask', kind: 'APPROVAL', arguments: '{{input.name}}', gate: { title: 'Is it well?' } },
  ],
  branch: [
    { key: 'wait', kind: 'DELAY', seconds: 2 },
    { key: 'big', kind: 'BRANCH', condition: { left: '{{input.size}}', operator: 'GREATER', right: 100 }, otherwise: 'small' },
    { ...note('big_note', connectorId, 'big {{input.name}}'), next: 'end' },
    note('small', connectorId, 'small {{input.name}}'),
  ],
  sub: [{ key: 'sub', kind: 'RUN', workflowId: inner, arguments: { name: '{{input.name}}' } }, report('after', 'After {{input.name}}')],
  list: [
    { key: 'each', kind: 'MAP', list: '{{input.list}}', workflowId: inner, arguments: { name: '{{input.name}} {{item}}' }, concurrency: 2 },
    report('all', 'All of {{input.name}}'),
  ],
  model: [{ key: 'say', kind: 'MODEL', agentId, prompt: 'Say {{input.name}}', ...patient }, report('said', 'Said {{input.name}}')],
})

type PlanName = keyof ReturnType<typeof plans>

/** The effects at the connector, and the reports, that a run of a plan has. */
const effectsOf = (plan: PlanName, name: string, size: number): { readonly notes: readonly string[]; readonly reports: readonly string[] } =>
  ({
    tool: { notes: [`note ${name}`], reports: ['told'] },
    letter: { notes: [`letter ${name}`], reports: ['sent'] },
    gate: { notes: [`gated ${name}`], reports: [] },
    branch: { notes: [`${size > 100 ? 'big' : 'small'} ${name}`], reports: [] },
    sub: { notes: [`below ${name}`], reports: ['after'] },
    list: { notes: [`below ${name} x`, `below ${name} y`, `below ${name} z`], reports: ['all'] },
    model: { notes: [], reports: ['said'] },
  })[plan]

/** What goes wrong at the other side: refused, too much at once, done without an answer, an answer that is none. */
const faults = [
  { fault: 'status', status: 500 },
  { fault: 'status', status: 429, resetSeconds: 1 },
  { fault: 'timeout-after-accept' },
  { fault: 'accept-then-reset' },
  { fault: 'malformed' },
] as const

interface Begun {
  readonly id: string
  readonly plan: PlanName
  readonly name: string
  readonly size: number
}

function openWorld({ owner, rows, control }: Office) {
  /** Asks until it is answered: processes die meanwhile, and a key makes a repetition the same. */
  async function query<Data = Record<string, { id: string }>>(document: string, variables: object = {}) {
    let last: unknown
    const asked = () =>
      owner.query<Data>(document, { ...variables }).catch(error => {
        last = error
        return null
      })
    return until('the platform answers', asked, 90).catch(error => {
      throw new Error(error.message, { cause: last })
    })
  }
  const mutate = async (name: string, input: object, type = `${name[0]!.toUpperCase()}${name.slice(1)}Input`) =>
    (await query(`mutation($input: ${type}!) { ${name}(input: $input) { id } }`, { input }))[name]!.id
  return {
    ...{ owner, query, mutate, control, sql: rows },
    async published(name: string, steps: readonly object[]): Promise<string> {
      const id = await mutate('createWorkflow', { name, trigger: { kind: 'MANUAL' }, steps, idempotencyKey: name })
      await mutate('publishWorkflow', { id })
      return id
    },
  }
}

type World = ReturnType<typeof openWorld>

/** Approves what waits; somebody else may have been quicker, or the process may die. */
async function approveAll({ owner, sql }: World, begun: readonly Begun[]): Promise<void> {
  const pending = await sql<{ id: string; hash: string }>(
    `select id, arguments_hash as hash from agents.approvals where status = 'PENDING' and run_id = any($1::uuid[])`,
    [begun.map(({ id }) => id)],
  )
  for (const { id, hash } of pending)
    await owner
      .ask('mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { id } }', { input: { id, argumentsHash: hash, decision: 'APPROVE' } })
      .catch(() => {})
}

/** Resolves steps of unclear outcome by what the twin received, and retries failed runs. @returns how many there were */
async function resolveAll({ mutate, sql, control }: World, begun: readonly Begun[]): Promise<{ readonly unknown: number; readonly failed: number }> {
  const received = await control<{ idempotencyKey: string }[]>('received?network=mcp')
  const keys = new Set(received.map(({ idempotencyKey }) => idempotencyKey))
  const failed = await sql<{ id: string; code: string; key: string; stepId: string; attempt: number }>(
    `select r.id, r.failure_code as code, s.key, s.id as "stepId", s.attempt from agents.runs r join agents.run_steps s on s.run_id = r.id and s.key = r.failure_step_key
     where r.status = 'FAILED' and r.id = any($1::uuid[])`,
    [begun.map(({ id }) => id)],
  )
  let unknown = 0
  for (const { id, code, key, stepId, attempt } of failed) {
    const happened = keys.has(`${id}:${key}:${attempt}`)
    if (code === 'OUTCOME_UNKNOWN') {
      unknown += 1
      await mutate('resolveStep', { stepId, happened, ...(happened && { output: { resolved: true } }) })
      if (happened) continue
    }
    await mutate('retryRun', { id })
  }
  return { unknown, failed: failed.length - unknown }
}

test.runIf(wanted)(
  'kill -9 of workers of agents: every run ends as its plan says, each effect stands once, and none is stuck',
  { timeout: 1_200_000 },
  async () => {
    await using office = await openOffice(2)
    const world = openWorld(office)
    const { query, mutate, sql, control, published } = world
    const { connectors, agents } = await query<{ connectors: { id: string; name: string }[]; agents: { nodes: { id: string; name: string }[] } }>(
      '{ connectors { id name } agents { nodes { id name } } }',
    )
    const connectorId = connectors.find(({ name }) => name === 'Sandbox tools')!.id
    const agentId = agents.nodes.find(({ name }) => name === 'Assistant')!.id
    await mutate('updateAgent', { id: agentId, model: 'default' })
    await mutate('updateConnector', { id: connectorId, tools: [{ name: 'send_letter', permission: 'AUTO' }] })
    const inner = await published('inner', innerPlans(connectorId).inner)
    const ids = new Map<PlanName, string>()
    for (const [name, steps] of Object.entries(plans(connectorId, agentId, inner))) ids.set(name as PlanName, await published(name, steps))
    const names = [...ids.keys()]
    const next = numbersFrom(4_711)
    const begun: Begun[] = []
    const begin = async () => {
      const at = begun.length
      const [plan, name, size] = [names[at % names.length]!, `r${at}`, Math.floor(next() * 200)]
      const input = { workflowId: ids.get(plan)!, input: { name, size, list: ['x', 'y', 'z'] }, idempotencyKey: `run-${at}` }
      begun.push({ id: await mutate('startRun', input), plan, name, size })
    }
    const since = performance.now()
    for (let kill = 0; kill < kills; kill += 1) {
      for (let run = 0; run < runsEachKill; run += 1) await begin()
      const { fault, ...more } = faults[Math.floor(next() * faults.length)]!
      for (const network of ['mcp', 'openai']) await control('faults', { network, fault, ...more, times: 1 })
      await pause(Math.floor(next() * 1_500))
      await office.workers[Math.floor(next() * 2)]!.replace()
      await approveAll(world, begun)
    }
    const killed = (performance.now() - since) / 1_000
    for (const network of ['mcp', 'openai']) await control('faults', { network, fault: 'none' })
    const settle = () =>
      until(
        'every run has ended',
        async () => {
          await approveAll(world, begun)
          const [left] = await sql<{ runs: number }>(
            `select count(*)::int as runs from agents.runs where (id = any($1::uuid[]) or lineage && $2::text[]) and status not in ('SUCCEEDED', 'FAILED', 'CANCELLED')`,
            [begun.map(({ id }) => id), begun.map(({ id }) => id)],
          )
          if (left!.runs > 0) await pause(250)
          return left!.runs === 0
        },
        400,
      )
    await settle()
    const settled = (performance.now() - since) / 1_000 - killed
    const resolved = await resolveAll(world, begun)
    await settle()
    expect(await resolveAll(world, begun)).toEqual({ unknown: 0, failed: 0 })

    const rows = await sql<{ id: string; status: string; succeeded: number; reports: string[] }>(
      `select r.id, r.status, count(f.*) filter (where f.kind = 'RUN_SUCCEEDED')::int as succeeded,
         coalesce(array_agg(f.title) filter (where f.kind = 'REPORT_WRITTEN'), '{}') as reports
       from agents.runs r left join agents.work_feed f on f.run_id = r.id where r.id = any($1::uuid[]) group by r.id`,
      [begun.map(({ id }) => id)],
    )
    const byId = new Map(rows.map(({ id, ...row }) => [id, row]))
    expect(begun.map(({ id, name }) => ({ name, ...byId.get(id) }))).toEqual(
      begun.map(({ plan, name, size }) => ({ name, status: 'SUCCEEDED', succeeded: 1, reports: effectsOf(plan, name, size).reports })),
    )
    const received = await control<{ text: string; idempotencyKey: string }[]>('received?network=mcp')
    expect(received.map(({ text }) => text).sort()).toEqual(begun.flatMap(({ plan, name, size }) => effectsOf(plan, name, size).notes).sort())
    expect(new Set(received.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(received.length)
    const open = await sql(`select id from agents.runs where (claim_id is not null or wake_at is not null) and status in ('SUCCEEDED', 'FAILED', 'CANCELLED')`)
    expect(open).toEqual([])
    console.log(
      `${begun.length} runs, ${kills} kills in ${killed.toFixed(0)} s, settled ${settled.toFixed(1)} s after the last; ${received.length} effects, each once; ${resolved.unknown} outcomes were unknown, ${resolved.failed} runs had failed`,
    )
  },
)
