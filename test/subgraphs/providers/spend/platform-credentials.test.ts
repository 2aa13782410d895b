import { describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Spending } from '../../../../subgraphs/providers/engines/spend/open.ts'
import { createTestDatabase } from '../../../kit/database.ts'
import type { Supergraph } from '../../../kit/supergraph.ts'
import { person, personally } from '../../../kit/viewers.ts'
import { seedPerson } from '../../identity/user/seed.ts'
import { type AiWorld, aiWorld, secondModel } from '../ai/world.ts'
import { seedCredential } from '../credential/seed.ts'
import { ended, order } from './seed.ts'
import { openSpender } from './spender.ts'

const worldWith = (platformCredentialsMicros: bigint | null) => aiWorld({ quotas: { platformCredentialsMicros } })
const superAdmin = () => person(newId(), newId(), ['platform_super_admin'])
const createLimit = 'mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id spentMicros hardLimit { limitMicros } } }'
const updateLimit = 'mutation($input: UpdateSpendLimitInput!) { updateSpendLimit(input: $input) { id hardLimit { limitMicros } } }'
const deleteLimit = 'mutation($input: DeleteSpendLimitInput!) { deleteSpendLimit(input: $input) { id } }'
const oneLimit = 'query($id: ID!) { spendLimit(id: $id) { level scopeType scopeValue period spentMicros hardLimit { limitMicros } alerts { kind } } }'

const limitsOf = ({ rows }: Supergraph) =>
  rows<{ id: string; value: string; hard: number; spent: number; isDefault: boolean }>(
    `select id, scope_value as value, hard_limit_micros::int as hard, spent_micros::int as spent, is_default as "isDefault"
       from providers.spend_limits where scope_type = 'PLATFORM_CREDENTIALS' order by created_at, id`,
  )
const attention = ({ rows }: Supergraph) =>
  rows<{ told: string }>(`select kind || ' ' || coalesce(body->>'organizationId', '') as told from providers.facts where kind like 'attention.%' order by seq`)

/** Has limits brought to what they are to be: their figures, and the setting. */
const sweep = async ({ graph }: AiWorld) => {
  for (const { run } of (graph.platform.providers.job('test').spending as Spending).sweeps) await run()
}

const long = 'word '.repeat(60)

/** Asks until a limit refuses. @returns the refusal, and how many passed */
async function exhaust({ chat }: AiWorld) {
  for (let passed = 0; passed < 50; passed += 1) {
    const answer = await chat(long)
    if (answer.status === 402) return { passed, refusal: await answer.json() }
    expect(answer.status).toBe(200)
  }
  throw new Error('no limit refuses')
}

describe('spending with platform credentials', () => {
  it('is limited by the setting, for each organization separately, with advice in the error', async () => {
    await using world = await worldWith(1_000n)
    const { graph, owner } = world
    const { passed, refusal } = await exhaust(world)
    expect(passed).toBeGreaterThan(1)
    expect(refusal).toMatchObject({ code: 'BUDGET_EXCEEDED', scopeType: 'platform_credentials', resetsAt: expect.any(String) })
    expect(refusal.detail).toMatch(/set a credential of its own for the provider, ask the operator to raise the limit, or wait until/)
    const other = person(newId(), newId(), ['owner'])
    expect((await world.chat('Hello', {}, { as: other })).status).toBe(200)
    const [logged] = await graph.rows(
      'select sum(cost_micros)::int as cost, sum(platform_micros)::int as platform from providers.calls where organization_id = $1',
      [owner.organizationId],
    )
    const limits = await limitsOf(graph)
    const [own, theirs] = [owner, other].map(({ organizationId }) => limits.find(({ value }) => value === organizationId))
    expect(own).toMatchObject({ value: owner.organizationId, hard: 1_000, spent: logged!.cost, isDefault: true })
    expect([logged!.platform, theirs!.value]).toEqual([logged!.cost, other.organizationId])
    // Its managers are told, and see what they are told of.
    expect(await attention(graph)).toContainEqual({ told: `attention.opened ${owner.organizationId}` })
    const limit = (await graph.execute(oneLimit, { id: own!.id }, { as: owner })).data().spendLimit
    expect(limit).toMatchObject({ level: 'PLATFORM', scopeType: 'PLATFORM_CREDENTIALS', period: 'MONTH', hardLimit: { limitMicros: 1_000 } })
    expect(limit.alerts.map(({ kind }: { kind: string }) => kind)).toContain('EXHAUSTED')
    ;(await graph.execute(oneLimit, { id: own!.id }, { as: other })).refused('NOT_FOUND')
    ;(await graph.execute(updateLimit, { input: { id: own!.id, hardLimitMicros: 9_000 } }, { as: owner })).refused('FORBIDDEN')
  })

  it('is for the first organization of each founder only, also where a call came before the news of its foundation', async () => {
    await using world = await worldWith(1_000n)
    const { graph } = world
    await graph.platform.identity.start()
    const [founder, other] = [(await seedPerson(graph)).id, (await seedPerson(graph)).id]
    const isRecorded = (organizationId: string) =>
      expect
        .poll(() => graph.rows('select from providers.organizations where organization_id = $1 and founded_by is not null', [organizationId]))
        .toHaveLength(1)
    const found = async (by: string, slug: string): Promise<string> => {
      const mutation = 'mutation($input: CreateOrganizationInput!) { createOrganization(input: $input) { id } }'
      const answer = await graph.execute(mutation, { input: { slug, name: slug } }, { as: personally(person(by, newId(), [])) })
      const { id } = answer.data().createOrganization
      await isRecorded(id)
      return id
    }
    const ids = [await found(founder, 'first'), await found(founder, 'second'), await found(other, 'third')]
    const hardOf = async (id: string) => (await limitsOf(graph)).find(({ value }) => value === id)?.hard
    const call = (organizationId: string) => world.chat('Hello', {}, { as: person(founder, organizationId, ['owner']) })
    expect([(await call(ids[0]!)).status, (await call(ids[2]!)).status]).toEqual([200, 200])
    const refused = await call(ids[1]!)
    expect([refused.status, (await refused.json()).detail]).toEqual([402, expect.stringContaining('whoever founded it has founded another before')])
    expect(await Promise.all(ids.map(hardOf))).toEqual([1_000, 0, 1_000])
    // A call of a fourth comes before the fact: its limit has the amount at first.
    const early = newId()
    expect((await call(early)).status).toBe(200)
    expect(await hardOf(early)).toBe(1_000)
    const body = { organizationId: early, slug: 'fourth', name: 'Fourth', foundedBy: founder }
    const fact = { id: newId(), from: 'identity', kind: 'organization.created', subject: `organization:${early}`, at: graph.clock.now(), body }
    expect(await graph.platform.providers.receive!(fact)).toBe('received')
    await sweep(world)
    expect(await hardOf(early)).toBe(0)
  })

  it('is nothing by a setting of 0, but for models that the organization has a credential for', async () => {
    await using world = await worldWith(0n)
    const { graph, owner } = world
    const refused = await world.chat('Hello')
    expect([refused.status, (await refused.json()).detail]).toEqual([
      402,
      expect.stringMatching(/^This organization may spend nothing with credentials of the platform: /),
    ])
    expect(await attention(graph)).toEqual([{ told: `attention.opened ${owner.organizationId}` }])
    await seedCredential(graph, { organizationId: owner.organizationId!, provider: 'openai', secret: 'sk-sandbox-of-their-own' })
    await graph.clock.advance(1_001)
    const answer = await world.chat('Hello')
    expect(answer.status).toBe(200)
    expect(await world.callOf(answer)).toMatchObject({ platform_micros: '0' })
    // The next of the chain would be paid by the platform.
    await world.arm('openai', { fault: 'status', status: 503 })
    expect((await world.chat('Hello')).status).toBe(502)
    expect(await world.received('anthropic')).toEqual([])
    expect((await world.chat('Hello', { model: secondModel })).status).toBe(402)
    expect((await limitsOf(graph)).map(({ spent }) => spent)).toEqual([0])
  })

  it('counts only the platform’s part when a call falls back to a platform model', async () => {
    await using world = await worldWith(100_000n)
    const { graph, owner } = world
    await seedCredential(graph, { organizationId: owner.organizationId!, provider: 'openai', secret: 'sk-sandbox-of-their-own' })
    await world.arm('openai', { fault: 'timeout-after-accept' })
    const answer = await world.chat('Hello', {}, { headers: { 'x-gateway-timeout-ms': '500' } })
    expect([answer.status, answer.headers.get('x-gateway-model')]).toEqual([200, secondModel])
    const call = await world.callOf(answer)
    const lost = BigInt((call.attempts as { costMicros?: string }[])[0]!.costMicros!)
    expect(lost).toBeGreaterThan(0n)
    expect(BigInt(call.platform_micros as string)).toBe(BigInt(call.cost_micros as string) - lost)
    expect((await limitsOf(graph)).map(({ spent }) => `${spent}`)).toEqual([call.platform_micros])
  })

  it('never exceeds the limit under concurrent calls', async () => {
    await using world = await worldWith(2_000n)
    const answers = await Promise.all(Array.from({ length: 40 }, () => world.chat('Hello')))
    expect(answers.some(({ status }) => status === 200)).toBe(true)
    expect(answers.some(({ status }) => status === 402)).toBe(true)
    expect((await world.spent()).spent).toBeLessThanOrEqual(2_000)
  })

  it('can be set for one organization by a super admin, in place of the setting, which applies again after its deletion', async () => {
    await using world = await worldWith(1_000n)
    const { graph, owner } = world
    const boss = superAdmin()
    await exhaust(world)
    const [before] = await limitsOf(graph)
    const input = { level: 'PLATFORM', scopeType: 'PLATFORM_CREDENTIALS', scopeValue: owner.organizationId, period: 'MONTH', hardLimitMicros: 50_000 }
    ;(await graph.execute(createLimit, { input }, { as: owner })).refused('FORBIDDEN')
    const at = { ...input, level: 'ORGANIZATION' }
    expect((await graph.execute(createLimit, { input: at }, { as: owner })).refused('BAD_USER_INPUT').extensions.field).toBe('scopeType')
    const made = (await graph.execute(createLimit, { input }, { as: boss })).data().createSpendLimit
    expect(made).toMatchObject({ spentMicros: before!.spent, hardLimit: { limitMicros: 50_000 } })
    expect((await attention(graph)).at(-1)).toEqual({ told: 'attention.closed ' })
    ;(await graph.execute(createLimit, { input }, { as: boss })).refused('CONFLICT')
    expect((await world.chat('Hello')).status).toBe(200)
    await sweep(world)
    expect((await limitsOf(graph)).map(({ id, hard, isDefault }) => [id, hard, isDefault])).toEqual([[made.id, 50_000, false]])
    ;(await graph.execute(deleteLimit, { input: { id: made.id } }, { as: boss })).data()
    await graph.clock.advance(10_001)
    expect((await world.chat(long)).status).toBe(200)
    await sweep(world)
    const [again] = await limitsOf(graph)
    expect([again!.hard, again!.isDefault, again!.spent > before!.spent]).toEqual([1_000, true, true])
    expect((await world.chat(long)).status).toBe(402)
  })

  it('follows the setting, unless somebody has set an amount', async () => {
    await using world = await worldWith(1_000n)
    const { graph, owner } = world
    await exhaust(world)
    await graph.rows('update providers.spend_limits set hard_limit_micros = 7, overdrawn_micros = spent_micros where is_default')
    const other = person(newId(), newId(), ['owner'])
    await world.chat('Hello', {}, { as: other })
    const theirs = (await limitsOf(graph)).find(({ value }) => value === other.organizationId)
    ;(await graph.execute(updateLimit, { input: { id: theirs!.id, hardLimitMicros: 9_000 } }, { as: superAdmin() })).data()
    await sweep(world)
    expect(Object.fromEntries((await limitsOf(graph)).map(({ value, hard }) => [value, hard]))).toEqual({
      [owner.organizationId!]: 1_000,
      [other.organizationId!]: 9_000,
    })
    await using without = await openSpender({ url: graph.database.url }, null)
    for (const { run } of without.spending.sweeps) await run()
    expect((await limitsOf(graph)).map(({ value }) => value)).toEqual([other.organizationId])
  })

  it('follows the setting when somebody has added a note without an amount', async () => {
    await using world = await worldWith(1_000n)
    const { graph } = world
    await world.chat('Hello')
    const [limit] = await limitsOf(graph)
    const boss = superAdmin()
    const change = (input: object) => graph.execute(updateLimit, { input: { id: limit!.id, ...input } }, { as: boss })
    ;(await change({ note: 'They asked for more.' })).data()
    expect((await limitsOf(graph)).map(({ isDefault }) => isDefault)).toEqual([true])
    ;(await change({ softLimitMicros: 500 })).data()
    expect((await limitsOf(graph)).map(({ isDefault }) => isDefault)).toEqual([false])
  })

  it('keeps an amount that a super admin sets while the limits follow the setting', async () => {
    await using world = await worldWith(1_000n)
    const { graph } = world
    await world.chat('Hello')
    await using other = await openSpender({ url: graph.database.url }, 2_000n)
    const own = await graph.database.sequelize.transaction()
    await graph.database.sequelize.query('update providers.spend_limits set hard_limit_micros = 9000, is_default = false', { transaction: own })
    const followed = Promise.all(other.spending.sweeps.map(({ run }) => run()))
    const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%t.is_default for no key update%'`
    await expect.poll(async () => (await graph.rows(waits)).length).toBeGreaterThan(0)
    await own.commit()
    await followed
    expect((await limitsOf(graph)).map(({ hard, isDefault }) => [hard, isDefault])).toEqual([[9_000, false]])
  })

  it('is unlimited for the organization that administers the platform, and for everyone if so configured', async () => {
    await using world = await worldWith(0n)
    await world.graph.platform.providers.job('test').platformOrganization.learn(world.owner.organizationId!)
    expect((await world.chat('Hello')).status).toBe(200)
    await using unlimited = await worldWith(null)
    expect((await unlimited.chat('Hello')).status).toBe(200)
    expect([await limitsOf(world.graph), await limitsOf(unlimited.graph)]).toEqual([[], []])
  })

  it('is one limit for an organization, over any number of processes', async () => {
    await using database = await createTestDatabase()
    await using first = await openSpender({ url: database.url }, 1_000n)
    await using second = await openSpender({ url: database.url }, 1_000n)
    const organizationId = newId()
    const candidates = [{ model: 'openai/gpt-5-mini', provider: 'openai', upperMicros: 100n, isOnPlatform: true }]
    const call = async ({ spending }: typeof first) => {
      const open = await spending.calls.begin({ organizationId, userId: null, appId: 'app_test' }, order(null, { candidates }))
      await open.settle(ended(100n, { platformMicros: 100n }))
    }
    const outcomes = await Promise.allSettled([first, second].flatMap(each => Array.from({ length: 20 }, () => call(each))))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const [limits] = await database.sequelize.query(
      'select spent_micros::int as spent, reserved_micros::int as reserved, attention, jsonb_array_length(alerts) as alerts from providers.spend_limits',
    )
    expect(limits).toEqual([{ spent: 1_000, reserved: 0, attention: 'BUDGET_EXHAUSTED', alerts: 4 }])
  })

  it.each([
    ['none', null, ['insert', 'update']],
    ['one', 1_000_000n, ['with', 'with']],
  ] as const)('costs two statements beside the call where the setting makes %s', async (_, micros, kinds) => {
    await using world = await worldWith(micros)
    const { graph, owner } = world
    const { calls } = graph.platform.providers.job('test')
    const candidates = [{ model: secondModel, provider: 'anthropic', upperMicros: 100n, isOnPlatform: true }]
    const whole = async () => {
      const open = await calls.begin({ organizationId: owner.organizationId!, userId: null, appId: 'app_test' }, order(null, { candidates }))
      await open.settle(ended(90n, { model: secondModel, platformMicros: 90n }))
    }
    await whole()
    const sent = (await graph.statements(whole)).filter(sql => !/pgboss|_jobs\.|\.facts|\bdelete from|skip locked|expires_at < /.test(sql))
    expect(sent.map(sql => /^\s*\w+/.exec(sql)![0].trim())).toEqual(kinds)
  })
})
