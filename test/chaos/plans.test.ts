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
/** What a model is asked that then has a note made, and after it a letter sent. */
const wish = (name: string) => `call create_note {"text":"thought ${name}"}, then call send_letter {"to":"Ada","text":"wrote ${name}"}`
const plans = (connectorId: string, { agentId, thinkerId }: { readonly agentId: string; readonly thinkerId: string }, inner: string) => ({
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
  think: [{ key: 'think', kind: 'MODEL', agentId: thinkerId, prompt: wish('{{input.name}}'), ...patient }, report('done', 'Done {{input.name}}')],
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
    // The letter, which may get lost, is looked at by its run.
    think: { notes: [`thought ${name}`], reports: ['done'] },
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
async function resolveAll(world: World, begun: readonly Begun[]): Promise<{ readonly unknown: number; readonly failed: number }> {
  const { sql } = world
  const failed = await sql<{ id: string; code: string; stepId: string }>(
    `select r.id, r.failure_code as code, s.id as "stepId" from agents.runs r join agents.run_steps s on s.run_id = r.id and s.key = r.failure_step_key
     where r.status = 'FAILED' and r.id = any($1::uuid[])`,
    [begun.map(({ id }) => id)],
  )
  let unknown = 0
  for (const { id, code, stepId } of failed) {
    if (code === 'OUTCOME_UNKNOWN') {
      unknown += 1
      if (await resolve(world, stepId)) continue
    }
    unknown += await retry(world, id)
  }
  return { unknown, failed: failed.length }
}

/** Says whether the call of a step has reached the twin. */
async function resolve({ mutate, sql, control }: World, stepId: string): Promise<boolean> {
  const received = await control<{ idempotencyKey: string }[]>('received?network=mcp')
  const [step] = await sql<{ call: string }>(`select run_id || ':' || key || ':' || attempt as call from agents.run_steps where id = $1`, [stepId])
  const happened = received.some(({ idempotencyKey }) => idempotencyKey === step!.call)
  await mutate('resolveStep', { stepId, happened, ...(happened && { output: { resolved: true } }) })
  return happened
}

/** Retries a run, after what is unclear below it. @returns how many steps were */
async function retry(world: World, id: string): Promise<number> {
  for (let unclear = 0; ; unclear += 1) {
    const asked = await world.owner.ask('mutation($input: RetryRunInput!) { retryRun(input: $input) { id } }', { input: { id } })
    if (asked.code === undefined) return unclear
    await resolve(world, asked.refused('CONFLICT').extensions.stepId as string)
  }
}

/** A conversation with the agent that has tools, each message of which wants a note and a letter. */
async function openTalk({ mutate, sql }: World, agentId: string) {
  const conversationId = await mutate('createConversation', { agentId, idempotencyKey: 'talk' })
  let said = 0
  return {
    async say(): Promise<void> {
      said += 1
      await mutate('sendMessage', { conversationId, text: wish(`t${said}.`), idempotencyKey: `message-${said}` })
    },
    replies: () =>
      sql<{ status: string; runId: string | null; runStatus: string | null }>(
        `select m.status, m.run_id as "runId", r.status as "runStatus" from agents.conversation_messages m left join agents.runs r on r.id = m.run_id
         where m.conversation_id = $1 and m.role = 'AGENT'`,
        [conversationId],
      ),
  }
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
    const connectorTools = ['create_note', 'send_letter'].map(name => ({ connectorId, name, permission: 'AUTO' }))
    const thinking = { name: 'Thinker', instructions: 'Do what you are asked.', model: 'default', connectorTools, idempotencyKey: 'thinker' }
    const thinkerId = await mutate('createAgent', thinking)
    const talk = await openTalk(world, thinkerId)
    const inner = await published('inner', innerPlans(connectorId).inner)
    const ids = new Map<PlanName, string>()
    for (const [name, steps] of Object.entries(plans(connectorId, { agentId, thinkerId }, inner))) ids.set(name as PlanName, await published(name, steps))
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
      await talk.say()
      const { fault, ...more } = faults[Math.floor(next() * faults.length)]!
      for (const network of ['mcp', 'openai']) await control('faults', { network, fault, ...more, times: 1 })
      await pause(Math.floor(next() * 1_500))
      await office.workers[Math.floor(next() * 2)]!.replace()
      await approveAll(world, begun)
    }
    const killed = (performance.now() - since) / 1_000
    for (const network of ['mcp', 'openai']) await control('faults', { network, fault: 'none' })
    // Runs of the demo, which wait for days.
    const waiting = await sql<{ id: string }>(
      `select id from agents.runs where status not in ('SUCCEEDED', 'FAILED', 'CANCELLED') and not (id = any($1::uuid[]) or lineage && $1::text[])
         and not exists (select from agents.conversation_messages m where m.run_id::text = runs.id::text or m.run_id::text = any(lineage))`,
      [begun.map(({ id }) => id)],
    )
    const settle = () =>
      until(
        'every run has ended',
        async () => {
          await approveAll(world, begun)
          const [left] = await sql<{ runs: number }>(
            `select (select count(*) from agents.runs where status not in ('SUCCEEDED', 'FAILED', 'CANCELLED') and id <> all($1::uuid[]))::int
               + (select count(*) from agents.conversation_messages where status = 'STREAMING')::int as runs`,
            [waiting.map(({ id }) => id)],
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
    const texts = received.map(({ text }) => text)
    const isSure = (text: string) => !text.startsWith('wrote ') && !text.startsWith('thought t')
    expect(texts.filter(isSure).sort()).toEqual(begun.flatMap(({ plan, name, size }) => effectsOf(plan, name, size).notes).sort())
    expect(received.filter(({ text }) => texts.indexOf(text) !== texts.lastIndexOf(text))).toEqual([])
    expect(new Set(received.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(received.length)
    // What the others have done stands where their run says so, and nowhere else: a person has said of unclear ones whether it happened.
    const calls = await sql<{ text: string; status: string }>(
      `select r.input->>'text' as text, s.status from agents.runs r join agents.run_steps s on s.run_id = r.id
       where r.parent_step_id is not null and s.key = 'action'`,
    )
    const done = calls.flatMap(({ text, status }) => (status === 'SUCCEEDED' && !isSure(text) ? [text] : []))
    const doubtful = calls.flatMap(({ text, status }) => (status === 'UNKNOWN' ? [text] : []))
    expect(texts.filter(text => !isSure(text) && !doubtful.includes(text)).sort()).toEqual(done.sort())
    const replies = await talk.replies()
    expect(replies).toHaveLength(kills)
    for (const reply of replies) expect(['COMPLETE SUCCEEDED', 'FAILED FAILED']).toContain(`${reply.status} ${reply.runStatus}`)
    const open = await sql(`select id from agents.runs where (claim_id is not null or wake_at is not null) and status in ('SUCCEEDED', 'FAILED', 'CANCELLED')`)
    expect(open).toEqual([])
    console.log(
      `${begun.length} runs, ${kills} kills in ${killed.toFixed(0)} s, settled ${settled.toFixed(1)} s after the last; ${received.length} effects, each once; ${replies.filter(({ status }) => status === 'COMPLETE').length} of ${kills} replies are complete; ${resolved.unknown} outcomes were unknown, ${resolved.failed} runs had failed`,
    )
  },
)
