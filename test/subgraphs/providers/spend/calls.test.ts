import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { ended, figures, model, order, seedLimit } from './seed.ts'

/** What is looked for meanwhile. */
const sweeps = /pgboss|_jobs\.|\.facts|\bdelete from|skip locked|^(START|BEGIN|COMMIT|SELECT 1)|set_config|expires_at < /

/** How each statement of some work begins, transactions among them. */
const kindsOf = async (graph: Supergraph, work: () => Promise<unknown>) =>
  (await graph.statements(work))
    .filter(sql => !/pgboss|_jobs\.|\.facts|\bdelete from|skip locked|expires_at < /.test(sql))
    .map(sql => /^\s*\w+/.exec(sql)![0].trim())

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

  test('with a limit costs two statements, without a transaction, when the organization makes no other call at that moment', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 100_000n })
    const whole = async () => (await serviceOf(graph).begin(callerOf(organization.id), order(500n))).settle(ended(400n))
    await whole()
    expect(await kindsOf(graph, whole)).toEqual(['with', 'with'])
    expect(await figures(graph, limit)).toEqual([800, 0, 0, ''])
  })

  describe('of an organization whose limits are cached', () => {
    /** An organization with a limit by which a call has gone, and what another process does to that before the next one. */
    async function meanwhile(change: (ids: { limit: string; organizationId: string }, graph: Supergraph) => Promise<unknown>) {
      const graph = await supergraph()
      const { organization } = await graph.seed.owner()
      const organizationId = organization.id
      const limit = await seedLimit(graph, { organizationId, hardLimitMicros: 1000n })
      const begin = (micros: bigint) => serviceOf(graph).begin(callerOf(organizationId), order(micros))
      await (await begin(500n)).settle(ended(400n))
      await change({ limit, organizationId }, graph)
      return { graph, limit, organizationId, begin, [Symbol.asyncDispose]: () => graph[Symbol.asyncDispose]() }
    }

    test('includes what another process has spent, reserved or booked meanwhile', async () => {
      await using at = await meanwhile(({ limit }, graph) => graph.rows('update providers.spend_limits set spent_micros = 410 where id = $1', [limit]))
      const open = await at.begin(300n)
      expect(await figures(at.graph, at.limit)).toEqual([410, 300, 0, ''])
      await at.graph.rows('update providers.spend_limits set reserved_micros = reserved_micros + 100 where id = $1', [at.limit])
      await open.settle(ended(200n))
      expect((await figures(at.graph, at.limit))!.slice(0, 3)).toEqual([610, 100, 0])
      await expect(at.begin(291n)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    })

    test('is rejected by a limit lowered meanwhile, and passes a raised one', async () => {
      const set = (most: number) => (ids: { limit: string }, graph: Supergraph) =>
        graph.rows('update providers.spend_limits set hard_limit_micros = $2, version = version + 1 where id = $1', [ids.limit, most])
      await using lowered = await meanwhile(set(500))
      await expect(lowered.begin(101n)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
      await using raised = await meanwhile(set(2000))
      expect((await raised.begin(1600n)).allowed).toEqual([model])
      expect(await figures(raised.graph, raised.limit)).toEqual([400, 1600, 0, ''])
    })

    test('is rejected by a limit created meanwhile, and ignores a deleted one', async () => {
      await using made = await meanwhile(({ organizationId }, graph) =>
        seedLimit(graph, { organizationId, scopeType: 'APP', scopeValue: 'app_test', hardLimitMicros: 100n }),
      )
      await expect(made.begin(101n)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED', extensions: { scopeType: 'APP' } })
      await using gone = await meanwhile(({ limit }, graph) => graph.rows('delete from providers.spend_limits where id = $1', [limit]))
      expect((await gone.begin(5000n)).isLimited).toBe(false)
    })

    test('tries a model whose limit has room again', async () => {
      await using at = await meanwhile(async ({ organizationId }, graph) => {
        const own = await seedLimit(graph, { organizationId, scopeType: 'MODEL', scopeValue: 'openai/second', hardLimitMicros: 10n })
        const both = async () =>
          serviceOf(graph).begin(callerOf(organizationId), {
            ...order(20n),
            candidates: [...order(20n).candidates, { model: 'openai/second', provider: 'openai', upperMicros: 20n }],
          })
        const first = await both()
        expect(first.allowed).toEqual([model])
        await first.settle(ended(1n))
        await graph.clock.advance(1001)
        await (await both()).settle(ended(0n))
        await graph.rows('update providers.spend_limits set hard_limit_micros = 100, version = version + 1 where id = $1', [own])
        const second = await both()
        expect(second.allowed).toEqual([model, 'openai/second'])
        await second.settle(ended(1n))
      })
      expect((await figures(at.graph, at.limit))!.slice(0, 2)).toEqual([402, 0])
    })

    test('reads limits once after another process wrote, and then each time for a second', async () => {
      await using at = await meanwhile(({ limit }, graph) => graph.rows('update providers.spend_limits set spent_micros = 410 where id = $1', [limit]))
      const kinds = (work: () => Promise<unknown>) => kindsOf(at.graph, work)
      const whole = async () => (await at.begin(10n)).settle(ended(1n))
      expect(await kinds(whole)).toEqual(['with', 'select', 'with', 'select', 'with'])
      await at.graph.clock.advance(1001)
      expect(await kinds(whole)).toEqual(['with', 'with'])
      // What this process writes in turn it reads again, and no more.
      await Promise.all([whole(), whole()])
      // One of them may have been in the way of the other, as another process is: then limits are read once more.
      await at.graph.clock.advance(1001)
      expect([
        ['with', 'with'],
        ['select', 'with', 'with'],
      ]).toContainEqual(await kinds(whole))
      // A limit that other calls met is none of this one.
      const other = callerOf(at.organizationId)
      await seedLimit(at.graph, { organizationId: at.organizationId, scopeType: 'USER', scopeValue: other.userId, hardLimitMicros: 100n })
      await (await serviceOf(at.graph).begin(other, order(10n))).settle(ended(1n))
      await at.graph.clock.advance(1001)
      expect(await kinds(whole)).toEqual(['with', 'with'])
    })

    test('is compared with a deleted limit at most once', async () => {
      await using at = await meanwhile(async ({ organizationId }, graph) => {
        const own = await seedLimit(graph, { organizationId, scopeType: 'APP', scopeValue: 'app_test', hardLimitMicros: 1000n })
        const whole = async () => (await serviceOf(graph).begin(callerOf(organizationId), order(10n))).settle(ended(1n))
        await whole()
        await graph.clock.advance(1001)
        await whole()
        await graph.rows('delete from providers.spend_limits where id = $1', [own])
        await whole()
      })
      await at.graph.clock.advance(1001)
      expect(await kindsOf(at.graph, async () => (await at.begin(10n)).settle(ended(1n)))).toEqual(['with', 'with'])
    })
  })

  test('reserves its maximum cost, and books its actual cost', async () => {
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

  test('is rejected where it is not covered, with the limit and its end, and is logged', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const limit = await seedLimit(graph, { organizationId: organization.id, hardLimitMicros: 1000n, period: 'DAY' })
    await expect(serviceOf(graph).begin(callerOf(organization.id), order(1001n))).rejects.toMatchObject({
      extensions: { code: 'BUDGET_EXCEEDED', scopeType: 'ORGANIZATION', resetsAt: expect.stringMatching('T00:00:00.000Z') },
    })
    expect(await statuses(graph)).toEqual(['REFUSED 1'])
    expect(await figures(graph, limit)).toEqual([0, 0, 0, 'EXHAUSTED'])
  })

  test('without a price is rejected under a hard limit that requires one, and free elsewhere', async () => {
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
    const [spent, reserved, refused, alerts] = (await figures(graph, limit))!
    expect([spent, reserved, refused]).toEqual([4_000_000, 0, 0])
    // The first refusal and the first half may come in either order.
    expect(String(alerts).split(',').sort()).toEqual(['EXHAUSTED', 'PERCENT_50', 'PERCENT_80', 'PERCENT_95'])
  }, 30_000)
})

describe('G-04 a charge', () => {
  test('is committed or rolled back with its transaction', async () => {
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
    await expect.poll(() => statuses(graph)).toEqual(['REFUSED 1', 'SUCCEEDED 1'])
    expect(await figures(graph, limit)).toEqual([100, 0, 0, 'PERCENT_50,EXHAUSTED'])
    expect(await graph.rows(`select body->>'kind' as kind from providers.facts where kind = 'attention.opened'`)).toEqual([{ kind: 'BUDGET_EXHAUSTED' }])
  })
})
