import { describe, expect, it } from 'vitest'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const createWorkflow = 'mutation($input: CreateWorkflowInput!) { createWorkflow(input: $input) { id } }'
const publishWorkflow = 'mutation($input: PublishWorkflowInput!) { publishWorkflow(input: $input) { id } }'
const startRun = 'mutation($input: StartRunInput!) { startRun(input: $input) { id } }'
const retryRun = 'mutation($input: RetryRunInput!) { retryRun(input: $input) { id status } }'
const decideApproval = 'mutation($input: DecideApprovalInput!) { decideApproval(input: $input) { id } }'
const runQuery = `query($id: ID!) { run(id: $id) { status output failure { code stepKey } steps { key status attempt output
  childRuns(first: 100) { totalCount nodes { id status itemIndex trigger } } } } }`

const approvalQuery = 'query($id: ID!) { run(id: $id) { steps { approval { id argumentsHash } } } }'

async function shop(graph: Supergraph) {
  const { owner } = await graph.seed.owner()
  const ask = async (document: string, variables: object) => (await graph.execute(document, { ...variables }, { as: owner })).data()
  const create = (steps: readonly object[]) => graph.execute(createWorkflow, { input: { name: 'A plan', trigger: { kind: 'MANUAL' }, steps } }, { as: owner })
  const published = async (steps: readonly object[]): Promise<string> => {
    const { id } = (await create(steps)).data().createWorkflow
    await ask(publishWorkflow, { input: { id } })
    return id
  }
  const read = async (id: string) => (await ask(runQuery, { id })).run
  const echo = await published([{ key: 'note', kind: 'REPORT', title: 'Note {{input.text}}', text: '{{input.text}}' }])
  return {
    ...{ ask, create, published, read, echo },
    each: (more: object = {}) => ({ key: 'each', kind: 'MAP', list: '{{input.list}}', workflowId: echo, arguments: { text: '{{item}}' }, ...more }),
    start: async (steps: readonly object[], input: object): Promise<string> =>
      (await ask(startRun, { input: { workflowId: await published(steps), input } })).startRun.id,
    async until(id: string, status: string) {
      await expect
        .poll(
          async () => {
            await graph.clock.run(200)
            return (await read(id)).status
          },
          { timeout: 20_000, interval: 50 },
        )
        .toBe(status)
      return read(id)
    },
  }
}

const texts = (output: readonly ({ text: string } | null)[]) => output.map(each => each?.text ?? null)

describe('a list step', () => {
  it('begins a run for each item in their order, and has their outputs in that order', async () => {
    await using graph = await supergraph()
    const { start, until, each } = await shop(graph)
    const list = Array.from({ length: 7 }, (_, at) => ({ word: `word ${at}` }))
    const step = each({ itemName: 'entry', concurrency: 2, arguments: { text: '{{entry.word}} at {{index}}' } })
    const after = { key: 'after', kind: 'REPORT', text: 'First: {{steps.each.output.0.text}}' }
    const done = await until(await start([step, after], { list }), 'SUCCEEDED')
    expect(texts(done.steps[0].output)).toEqual(list.map(({ word }, at) => `${word} at ${at}`))
    expect(done.output.text).toBe('First: word 0 at 0')
    const { totalCount, nodes } = done.steps[0].childRuns
    expect([totalCount, nodes.map(({ itemIndex }: { itemIndex: number }) => itemIndex)]).toEqual([7, [0, 1, 2, 3, 4, 5, 6]])
    expect(new Set(nodes.map(({ trigger }: { trigger: string }) => trigger))).toEqual(new Set(['PARENT']))
    expect(done.steps[1].childRuns).toBeNull()
  })

  it('begins nothing after a failed item, or leaves null in its place, and repeats no item that succeeded', async () => {
    await using graph = await supergraph()
    const { start, until, each, ask, read } = await shop(graph)
    const list = [{ word: 'zero' }, {}, { word: 'two' }]
    const step = (onItemFailure: string) => each({ arguments: { text: '{{item.word}}' }, concurrency: 1, onItemFailure })
    const stopped = await start([step('STOP')], { list })
    const failed = await until(stopped, 'FAILED')
    expect([failed.failure, failed.steps[0].childRuns.totalCount]).toEqual([{ code: 'CHILD_FAILED', stepKey: 'each' }, 1])
    await ask(retryRun, { input: { id: stopped } })
    await until(stopped, 'FAILED')
    await expect.poll(async () => (await read(stopped)).steps[0].attempt).toBe(2)
    expect((await read(stopped)).steps[0].childRuns.totalCount).toBe(1)
    const skipped = await until(await start([step('SKIP')], { list }), 'SUCCEEDED')
    expect(texts(skipped.output)).toEqual(['zero', null, 'two'])
  })

  it('begins again those alone whose run has failed, once the run is retried', async () => {
    await using graph = await supergraph()
    const { start, until, each, published, ask } = await shop(graph)
    // The second item names a step that is not there at first.
    const child = await published([
      { key: 'pick', kind: 'BRANCH', condition: { left: '{{input.text}}', operator: 'GREATER', right: 'm' } },
      { key: 'note', kind: 'REPORT', text: '{{input.text}} {{input.missing}}' },
    ])
    const run = await start([each({ workflowId: child, concurrency: 3 })], { list: ['a', 'z', 'b'] })
    const failed = await until(run, 'FAILED')
    expect(failed.steps[0].childRuns.nodes.map(({ status }: { status: string }) => status)).toEqual(['SUCCEEDED', 'FAILED', 'SUCCEEDED'])
    await ask(retryRun, { input: { id: run } })
    await expect.poll(async () => (await until(run, 'FAILED')).steps[0].childRuns.totalCount).toBe(4)
    const { nodes } = (await until(run, 'FAILED')).steps[0].childRuns
    expect(nodes.map(({ itemIndex }: { itemIndex: number }) => itemIndex)).toEqual([0, 1, 1, 2])
  })

  it('waits for gates of its items one by one, with no more runs under way than it may have', async () => {
    await using graph = await supergraph()
    const { start, until, each, published, ask, read } = await shop(graph)
    const child = await published([{ key: 'ask', kind: 'APPROVAL', arguments: '{{input.text}}', gate: { title: 'May it?' } }])
    const run = await start([each({ workflowId: child, concurrency: 2 })], { list: ['a', 'b', 'c'] })
    const decided = new Set<string>()
    const waiting = async (): Promise<string[]> =>
      (await read(run)).steps[0].childRuns.nodes.flatMap(({ id, status }: { id: string; status: string }) =>
        status === 'WAITING_APPROVAL' && !decided.has(id) ? [id] : [],
      )
    while (decided.size < 3) {
      const settled = async () => {
        await graph.clock.run(200)
        return (await waiting()).length
      }
      await expect.poll(settled, { timeout: 20_000 }).toBe(Math.min(2, 3 - decided.size))
      const [id] = (await waiting()) as [string]
      const { approval } = (await ask(approvalQuery, { id })).run.steps[0]
      await ask(decideApproval, { input: { id: approval.id, argumentsHash: approval.argumentsHash, decision: 'APPROVE' } })
      decided.add(id)
    }
    expect((await until(run, 'SUCCEEDED')).output).toHaveLength(3)
  })

  it('goes on when its last item ends while it is being looked at', async () => {
    await using graph = await supergraph()
    const { start, until, each, published, ask, read } = await shop(graph)
    const child = await published([{ key: 'ask', kind: 'APPROVAL', arguments: '{{input.text}}', gate: { title: 'May it?' } }])
    const run = await start([each({ workflowId: child })], { list: ['a'] })
    const childOf = async () => (await read(run)).steps[0]?.childRuns?.nodes[0]
    const waits = async () => {
      await graph.clock.run(200)
      return (await childOf())?.status
    }
    await expect.poll(waits, { timeout: 20_000 }).toBe('WAITING_APPROVAL')
    const { id } = await childOf()
    const { approval } = (await ask(approvalQuery, { id })).run.steps[0]
    await graph.rows('update agents.runs set wake_at = $2 where id = $1', [run, graph.clock.now()])
    const gone = await graph.database.sequelize.transaction(async transaction => {
      // What a look does that finds the item under way: it holds the run, and lets it wait.
      await graph.database.sequelize.query('update agents.runs set wake_at = null where id = $1', { bind: [run], transaction })
      await ask(decideApproval, { input: { id: approval.id, argumentsHash: approval.argumentsHash, decision: 'APPROVE' } })
      const running = graph.clock.run(200)
      const hasEnded = async () => (await childOf()).status === 'SUCCEEDED' || (await graph.rows('select from pg_locks where not granted')).length >= 2
      await expect.poll(hasEnded, { timeout: 20_000 }).toBe(true)
      return { running }
    })
    await gone.running
    expect(await until(run, 'SUCCEEDED')).toMatchObject({ status: 'SUCCEEDED' })
  })

  it.each([
    ['NOT_A_LIST', 'no list'],
    ['LIST_TOO_LONG', Array.from({ length: 501 }, (_, at) => at)],
    ['TEMPLATE_MISSING', undefined],
  ])('fails with %s', async (code, list) => {
    await using graph = await supergraph()
    const { start, until, each } = await shop(graph)
    expect((await until(await start([each()], { list }), 'FAILED')).failure).toEqual({ code, stepKey: 'each' })
  })

  it('succeeds at once for an empty list', async () => {
    await using graph = await supergraph()
    const { start, until, each } = await shop(graph)
    expect((await until(await start([each()], { list: [] }), 'SUCCEEDED')).output).toEqual([])
  })

  it.each([
    ['steps[0].list', { list: 'no template' }],
    ['steps[0].itemName', { itemName: 'steps' }],
    ['steps[0].concurrency', { concurrency: 21 }],
    ['steps[0].workflowId', { workflowId: null }],
    ['steps[0].arguments', { arguments: { text: '{{other}}' } }],
  ])('is refused with the field %s for %j', async (field, more) => {
    await using graph = await supergraph()
    const { create, each } = await shop(graph)
    expect((await create([each(more)])).refused('BAD_USER_INPUT').extensions).toMatchObject({ field })
  })
})
