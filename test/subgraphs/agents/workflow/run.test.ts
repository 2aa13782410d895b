import { describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const createWorkflow =
  'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id version draft { number steps { key timeoutSeconds retries } } } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id status version published { number } } }'
const fields = `id status trigger output version failure { code message stepKey } startedBy { id }
  steps { id key kind status attempt input output failure { code } childRun { id status output } approval { id status argumentsHash } }`
const startRun = `mutation($input: StartRunInput!) { startRun(input: $input) { ${fields} } }`
const runQuery = `query($id: ID!) { run(id: $id) { ${fields} } }`
const cancelRun = 'mutation($input: CancelRunInput!) { cancelRun(input: $input) { id status } }'
const retryRun = 'mutation($input: RetryRunInput!) { retryRun(input: $input) { id status } }'
const decideApproval = `mutation($input: DecideApprovalInput!) { decideApproval(input: $input) {
  id status argumentsHash decidedAt decisions { decision actor comment arguments user { id } } } }`
const widget = '{ agentsWidget { statistics { key value } items { id title } nextAction { label } } }'

/** An owner, and what it does with workflows. */
async function shop(graph: Supergraph) {
  const { owner, outsider } = await graph.seed.owner().outsider()
  const ask = async (document: string, variables: object = {}, as: Viewer = owner) => (await graph.execute(document, { ...variables }, { as })).data()
  const published = async (steps: readonly object[], trigger: object = { kind: 'MANUAL' }): Promise<string> => {
    const { id } = (await ask(createWorkflow, { input: { name: 'A plan', trigger, steps } })).createWorkflow
    await ask(publishWorkflow, { input: { id } })
    return id
  }
  const start = async (steps: readonly object[], input: object = {}) => (await ask(startRun, { input: { workflowId: await published(steps), input } })).startRun
  const read = async (id: string) => (await ask(runQuery, { id })).run
  return {
    ...{ owner, outsider, ask, published, start, read },
    /** Lets the present be worked off, and waits until the run stands so. */
    async until(id: string, status: string) {
      await graph.clock.run(1)
      await expect.poll(async () => (await read(id)).status, { timeout: 10_000 }).toBe(status)
      return read(id)
    },
    decide: (approval: { id: string; argumentsHash: string }, decision: string, more: object = {}, as: Viewer = owner) =>
      graph.execute(decideApproval, { input: { id: approval.id, argumentsHash: approval.argumentsHash, decision, ...more } }, { as }),
  }
}

const report = (key: string, text: string, more: object = {}) => ({ key, kind: 'REPORT', title: key, text, ...more })
const statuses = ({ steps }: { steps: { key: string; status: string }[] }) => steps.map(({ key, status }) => `${key} ${status}`)

describe('a run', () => {
  it('hands data on from step to step, takes the branch, waits its time, and ends with the last output', async () => {
    await using graph = await supergraph()
    const { start, until } = await shop(graph)
    const begun = await start(
      [
        { key: 'big', kind: 'BRANCH', condition: { left: '{{input.size}}', operator: 'GREATER', right: 10 }, otherwise: 'small' },
        report('never', 'Never.', { next: 'end' }),
        { key: 'small', kind: 'DELAY', seconds: 30 },
        report('note', 'Size {{input.size}}, big: {{steps.big.output}}'),
      ],
      { size: 3 },
    )
    expect(begun).toMatchObject({ status: 'QUEUED', trigger: 'MANUAL' })
    await until(begun.id, 'WAITING_TIMER')
    await graph.clock.run(29_000)
    await until(begun.id, 'WAITING_TIMER')
    await graph.clock.run(1_500)
    const done = await until(begun.id, 'SUCCEEDED')
    expect(statuses(done)).toEqual(['big SUCCEEDED', 'never SKIPPED', 'small SUCCEEDED', 'note SUCCEEDED'])
    expect(done.output).toEqual({ id: expect.any(String), text: 'Size 3, big: false' })
  })

  it('fails where a template leads to nothing, and goes on from there when it is retried', async () => {
    await using graph = await supergraph()
    const { start, until, ask } = await shop(graph)
    const begun = await start([report('first', 'One.'), report('second', '{{input.missing}}')])
    const failed = await until(begun.id, 'FAILED')
    expect(failed.failure).toMatchObject({ code: 'TEMPLATE_MISSING', stepKey: 'second' })
    await ask(retryRun, { input: { id: begun.id } })
    await graph.clock.run(1)
    await expect.poll(async () => (await until(begun.id, 'FAILED')).steps.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2])
    const reports = await graph.rows<{ title: string; version: number }>('select title, version from agents.reports')
    expect(reports).toEqual([{ title: 'first', version: 1 }])
  })

  it('waits for the runs that its steps begin, and fails when one of them fails', async () => {
    await using graph = await supergraph()
    const { published, start, until } = await shop(graph)
    const child = await published([report('inner', 'Inner {{input.text}}')])
    const sub = (text: string) => ({ key: 'sub', kind: 'RUN', workflowId: child, arguments: { [text]: 'word' } })
    const good = await start([sub('text'), report('after', '{{steps.sub.output.text}}')])
    const done = await until(good.id, 'SUCCEEDED')
    expect(done.output.text).toBe('Inner word')
    expect(done.steps[0].childRun).toMatchObject({ status: 'SUCCEEDED' })
    const bad = await start([sub('other')])
    expect((await until(bad.id, 'FAILED')).failure.code).toBe('CHILD_FAILED')
  })

  it('begins nothing after it was cancelled, runs below it included', async () => {
    await using graph = await supergraph()
    const { published, start, until, read, ask, owner } = await shop(graph)
    const child = await published([{ key: 'wait', kind: 'DELAY', seconds: 5 }, report('inner', 'Never.')])
    const begun = await start([{ key: 'sub', kind: 'RUN', workflowId: child }, report('outer', 'Never.')])
    await graph.clock.run(1)
    await expect.poll(async () => (await read(begun.id)).steps[0].childRun?.status, { timeout: 10_000 }).toBe('WAITING_TIMER')
    expect((await ask(cancelRun, { input: { id: begun.id } })).cancelRun.status).toBe('CANCELLED')
    const again = await graph.execute(cancelRun, { input: { id: begun.id } }, { as: owner })
    expect(again.refused('CONFLICT').extensions).toMatchObject({ reason: 'ILLEGAL_MOVE', from: 'CANCELLED', verb: 'cancel', possible: [] })
    await graph.clock.run(20_000)
    const cancelled = await until(begun.id, 'CANCELLED')
    expect(statuses(cancelled)).toEqual(['sub CANCELLED', 'outer CANCELLED'])
    expect(cancelled.steps[0].childRun.status).toBe('CANCELLED')
    expect(await graph.rows('select 1 from agents.reports')).toEqual([])
  })

  it('is one for one idempotency key, and none of a workflow that is not published', async () => {
    await using graph = await supergraph()
    const { ask, published, owner } = await shop(graph)
    const input = { workflowId: await published([report('note', 'Once.')]), input: {}, idempotencyKey: 'key-1' }
    const runs = await Promise.all([1, 2, 3, 4, 5].map(async () => (await ask(startRun, { input })).startRun.id))
    expect(new Set(runs).size).toBe(1)
    const draft = (await ask(createWorkflow, { input: { name: 'Draft', trigger: { kind: 'MANUAL' }, steps: [] } })).createWorkflow
    const refused = await graph.execute(startRun, { input: { workflowId: draft.id } }, { as: owner })
    expect(refused.refused('CONFLICT').extensions).toMatchObject({ reason: 'NOT_PUBLISHED' })
    const empty = await graph.execute(publishWorkflow, { input: { id: draft.id } }, { as: owner })
    expect(empty.refused('CONFLICT').extensions).toMatchObject({ reason: 'EMPTY_PLAN' })
  })

  it('keeps the plan that it began with when another one is published', async () => {
    await using graph = await supergraph()
    const { ask, published, until } = await shop(graph)
    const id = await published([{ key: 'wait', kind: 'DELAY', seconds: 10 }, report('note', 'Old.')])
    const begun = (await ask(startRun, { input: { workflowId: id } })).startRun
    await until(begun.id, 'WAITING_TIMER')
    await ask('mutation($input: UpdateWorkflowInput!) { updateWorkflow(input: $input) { id } }', { input: { id, steps: [report('note', 'New.')] } })
    expect((await ask(publishWorkflow, { input: { id } })).publishWorkflow.published.number).toBe(2)
    await graph.clock.run(10_500)
    expect((await until(begun.id, 'SUCCEEDED')).output.text).toBe('Old.')
  })
})

describe('an approval', () => {
  const question = (more: object = {}) => ({
    ...{ key: 'ask', kind: 'APPROVAL', arguments: { of: '{{input.of}}' } },
    gate: { title: 'Which colour?', allowed: ['APPROVE', 'EDIT', 'REJECT', 'RESPOND'], expiresInSeconds: 600, ...more },
  })
  const hold = async (graph: Supergraph, more: object = {}) => {
    const world = await shop(graph)
    const begun = await world.start([question(more), report('note', '{{steps.ask.output.decision}} {{steps.ask.output.response}}')], { of: 'walls' })
    const waiting = await world.until(begun.id, 'WAITING_APPROVAL')
    return { ...world, id: begun.id as string, approval: waiting.steps[0].approval }
  }

  it('is decided once by fifty at the same moment, and the run goes on from that', async () => {
    await using graph = await supergraph()
    const { decide, approval, until, id, owner, ask } = await hold(graph)
    expect((await ask(widget)).agentsWidget).toMatchObject({
      items: [{ id: approval.id, title: 'Which colour?' }],
      nextAction: { label: 'Decide: Which colour?' },
    })
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => decide(approval, at % 2 ? 'RESPOND' : 'REJECT', at % 2 ? { response: 'blue' } : {})),
    )
    const codes = answers.map(answer => answer.code ?? 'decided')
    expect(codes.filter(code => code === 'decided')).toHaveLength(1)
    expect(codes.filter(code => code === 'CONFLICT')).toHaveLength(49)
    const won = answers.find(answer => !answer.code)!.data().decideApproval
    expect(won.decisions).toEqual([expect.objectContaining({ actor: `user:${owner.userId}`, user: { id: owner.userId } })])
    const run = await until(id, won.status === 'REJECTED' ? 'FAILED' : 'SUCCEEDED')
    if (won.status === 'REJECTED') expect(run.failure.code).toBe('APPROVAL_REJECTED')
    else expect(run.output.text).toBe('RESPOND blue')
    expect((await ask(widget)).agentsWidget).toMatchObject({ items: [], nextAction: null })
    const facts = await graph.rows<{ kind: string }>(`select kind from agents.facts where kind like 'attention.%' order by seq`)
    expect(facts.map(({ kind }) => kind)).toEqual(['attention.opened', 'attention.closed'])
  })

  it('refuses another hash, and what comes after its expiry, whose default the clock decides once', async () => {
    await using graph = await supergraph()
    const { decide, approval, until, id, outsider } = await hold(graph, { expiresInSeconds: 10 })
    const other = { ...approval, argumentsHash: `sha256:${'0'.repeat(64)}` }
    expect((await decide(other, 'APPROVE')).refused('CONFLICT').extensions).toMatchObject({ reason: 'HASH_MISMATCH' })
    expect((await decide(approval, 'APPROVE', {}, outsider)).code).toBe('NOT_FOUND')
    await graph.clock.run(11_000)
    const expired = await until(id, 'FAILED')
    expect(expired.failure.code).toBe('APPROVAL_EXPIRED')
    expect((await decide(approval, 'APPROVE')).refused('CONFLICT').extensions).toMatchObject({ reason: 'DECIDED', status: 'EXPIRED' })
    const [kept] = await graph.rows<{ decisions: { actor: string }[] }>('select decisions from agents.approvals')
    expect(kept!.decisions.map(({ actor }) => actor)).toEqual(['system'])
  })

  it('becomes urgent after its time, and falls with its run', async () => {
    await using graph = await supergraph()
    const { until, id, ask } = await hold(graph, { escalateAfterSeconds: 20 })
    await graph.clock.run(21_000)
    await expect.poll(() => graph.rows('select 1 from agents.approvals where escalated_at is not null'), { timeout: 10_000 }).toHaveLength(1)
    await ask(cancelRun, { input: { id } })
    expect((await until(id, 'CANCELLED')).steps[0].approval.status).toBe('CANCELLED')
    const facts = await graph.rows<{ severity: string | null }>(
      `select body->>'severity' as severity from agents.facts where kind like 'attention.%' order by seq`,
    )
    expect(facts.map(({ severity }) => severity)).toEqual([null, 'HIGH', null])
  })
})

describe('a plan', () => {
  it.each([
    ['the same key twice', [report('a', 'x'), report('a', 'x')], 'steps[1].key'],
    ['a step that leads back', [report('a', 'x', { next: 'a' })], 'steps[0].next'],
    ['a key that is none', [report('A', 'x')], 'steps[0].key'],
    ['a delay of no time', [{ key: 'a', kind: 'DELAY', seconds: 0 }], 'steps[0].seconds'],
    ['a question without a gate', [{ key: 'a', kind: 'APPROVAL' }], 'steps[0].gate'],
    ['the output of a later step', [report('a', '{{steps.b.output}}'), report('b', 'x')], 'steps[0].text'],
  ])('refuses %s and names the field', async (_, steps, field) => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const answer = await graph.execute(createWorkflow, { input: { name: 'Wrong', trigger: { kind: 'MANUAL' }, steps } }, { as: owner })
    expect(answer.refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
  })
})
