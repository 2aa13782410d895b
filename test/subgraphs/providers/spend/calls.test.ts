import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { ended, figures, model, order, seedLimit } from './seed.ts'

/** What is looked for meanwhile. */
const sweeps = /pgboss|_jobs\.|\.facts|\bdelete from|skip locked|^(START|BEGIN|COMMIT|SELECT 1)|set_config|expires_at < /

const callerOf = (organizationId: string) => ({ organizationId, userId: newId(), appId: 'app_test' })
const serviceOf = (graph: Supergraph) => graph.platform.providers.job('test').calls
const statuses = async (graph: Supergraph) =>
  (await graph.rows<{ status: string; count: number }>('select status, count(*)::int as count from providers.calls group by 1 order by 1')).map(
    ({ status, count }) => `${status} ${count}`,
  )

describe('G-04 a call', () => {
  test('that nothing limits costs two statements, and is on record', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const caller = callerOf(organization.id)
    const whole = async () => {
      const open = await serviceOf(graph).begin(caller, order(500n))
      await open.settle(ended(400n, { inputTokens: 10, outputTokens: 20, latencyMs: 12.4, attempts: [] }))
    }
    await whole()
    const sent = (await graph.statements(whole)).filter(sql => !sweeps.test(sql))
    expect(sent.map(sql => /^\s*\w+ (?:into )?\S+/.exec(sql)![0])).toEqual(['insert into providers.calls', 'update providers.calls'])
    const [row] = await graph.rows('select status, app_id, user_id, model, cost_micros, input_tokens, latency_ms, held, expires_at from providers.calls')
    expect(row).toMatchObject({
      status: 'SUCCEEDED',
      app_id: 'app_test',
      user_id: caller.userId,
      model,
      input_tokens: 10,
      latency_ms: 12,
      held: [],
      expires_at: null,
    })
  })

  test('that a limit holds costs four, without a transaction, when nobody else of the organization calls at that moment', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 100_000n })
    const whole = async () => (await serviceOf(graph).begin(callerOf(organization.id), order(500n))).settle(ended(400n))
    await whole()
    const sent = (await graph.statements(whole)).filter(sql => !/pgboss|_jobs\.|\.facts|\bdelete from|skip locked|expires_at < /.test(sql))
    expect(sent.map(sql => /^\s*\w+/.exec(sql)![0].trim())).toEqual(['select', 'with', 'select', 'with'])
    expect(await figures(graph, limit)).toEqual([800, 0, 0, ''])
  })

  test('holds what it may cost, and is booked with what it did', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n })
    const open = await serviceOf(graph).begin(callerOf(organization.id), order(600n))
    expect(open.allowed).toEqual([model])
    expect(await figures(graph, limit)).toEqual([0, 600, 0, ''])
    await Promise.all([open.settle(ended(510n)), open.settle(ended(999n))])
    await open.settle(ended(700n))
    expect(await figures(graph, limit)).toEqual([510, 0, 0, 'PERCENT_50'])
  })

  test('is refused where it is not covered, told by whom and until when, and is on record', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n, period: 'DAY' })
    await expect(serviceOf(graph).begin(callerOf(organization.id), order(1001n))).rejects.toMatchObject({
      extensions: { code: 'BUDGET_EXCEEDED', scopeType: 'ORGANIZATION', resetsAt: expect.stringMatching('T00:00:00.000Z') },
    })
    expect(await statuses(graph)).toEqual(['REFUSED 1'])
    expect(await figures(graph, limit)).toEqual([0, 0, 0, ''])
  })

  test('without a price is refused under a hard limit that asks for one, and passes for nothing elsewhere', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const begin = () => serviceOf(graph).begin(callerOf(organization.id), order(null))
    await (await begin()).settle(ended(null))
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n })
    await expect(begin()).rejects.toMatchObject({ extensions: { code: 'FORBIDDEN', reason: 'model_unpriced' } })
    await graph.rows(`update providers.spend_limits set unpriced = 'ALLOW'`)
    await (await begin()).settle(ended(null))
    expect(await figures(graph, limit)).toEqual([0, 0, 0, ''])
  })

  test('1,000 at once against a limit that covers 100 at a fixed price: exactly 100', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 4_000_000n })
    const caller = callerOf(organization.id)
    const answers = await Promise.allSettled(
      Array.from({ length: 1000 }, async () => (await serviceOf(graph).begin(caller, order(40_000n))).settle(ended(40_000n))),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
    expect(await statuses(graph)).toEqual(['REFUSED 900', 'SUCCEEDED 100'])
    expect(await figures(graph, limit)).toEqual([4_000_000, 0, 0, 'PERCENT_50,PERCENT_80,PERCENT_95,EXHAUSTED'])
  }, 30_000)
})

describe('G-04 a charge', () => {
  test('stands and falls with the transaction that it belongs to', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: null, hardLimitMicros: 150n })
    const job = graph.platform.providers.job('test')
    const mail = { family: 'EMAIL' as const, operation: 'email.send', provider: 'smtp', units: 1, micros: job.calls.priceOf.email }
    const send = (fails = false) =>
      inTransaction(job, async unit => {
        await job.calls.charge(callerOf(organization.id), mail, unit)
        if (fails) throw new Error('undone')
      })
    await expect(send(true)).rejects.toThrow('undone')
    expect([await figures(graph, limit), await statuses(graph)]).toEqual([[0, 0, 0, ''], []])
    await send()
    await expect(send()).rejects.toMatchObject({ extensions: { code: 'BUDGET_EXCEEDED', scopeType: 'PLATFORM', resetsAt: null } })
    expect(await figures(graph, limit)).toEqual([100, 0, 0, 'PERCENT_50'])
    await expect.poll(() => statuses(graph)).toEqual(['REFUSED 1', 'SUCCEEDED 1'])
  })
})
