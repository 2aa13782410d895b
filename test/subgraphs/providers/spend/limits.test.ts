import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, person } from '../../../kit/viewers.ts'
import { ended, model, order, seedLimit } from './seed.ts'

const fields = `{ id level scopeType scopeValue period softLimitMicros hardLimit { limitMicros remainingMicros } unpriced spentMicros reservedMicros resetsAt
  alerts { kind at } note version }`
const createLimit = `mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) ${fields} }`
const updateLimit = `mutation($input: UpdateSpendLimitInput!) { updateSpendLimit(input: $input) ${fields} }`
const deleteLimit = `mutation($input: DeleteSpendLimitInput!) { deleteSpendLimit(input: $input) { id } }`
const oneLimit = `query($id: ID!) { spendLimit(id: $id) ${fields} }`

const callerOf = (organizationId: string, appId = 'app_agents') => ({ organizationId, userId: newId(), appId })
const callsOf = (graph: Supergraph) => graph.platform.providers.job('test').calls
const tryToMake = (graph: Supergraph, as: Viewer, input: object) => graph.execute(createLimit, { input }, { as })
const make = async (graph: Supergraph, as: Viewer, input: object) => (await tryToMake(graph, as, input)).data().createSpendLimit
const read = async (graph: Supergraph, as: Viewer, id: string) => (await graph.execute(oneLimit, { id }, { as })).data().spendLimit
const ofOrganization = (viewer: Viewer, more: object = {}) => ({
  ...{ scopeType: 'ORGANIZATION', scopeValue: viewer.organizationId, period: 'DAY', hardLimitMicros: 1000 },
  ...more,
})
const spend = async (graph: Supergraph, organizationId: string, micros: bigint, appId?: string) =>
  (await callsOf(graph).begin(callerOf(organizationId, appId), order(micros))).settle(ended(micros))
const superAdmin = () => person(newId(), newId(), ['platform_super_admin'])
/** Lets the sweeps go round once more. */
const round = async (graph: Supergraph) => graph.clock.run(15_000)
const factsLike = (graph: Supergraph, pattern: string) =>
  graph.rows<{ kind: string; body: Record<string, unknown> }>('select kind, body from providers.facts where kind like $1 order by seq', [pattern])
const told = (graph: Supergraph) => factsLike(graph, 'attention.%')
const budgetAlerts = (graph: Supergraph) => factsLike(graph, 'budget.alert')

describe('G-04 a spend limit', () => {
  test('is created with its scope’s spending in the running period and an audit entry, and shows the remaining amount', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    await spend(graph, organization.id, 300n)
    await graph.clock.advance(86_400_000)
    await spend(graph, organization.id, 200n)
    await spend(graph, organization.id, 40n, 'app_payments')
    const [day, month, total, app] = await Promise.all([
      make(graph, owner, ofOrganization(owner, { note: ' For trials ' })),
      make(graph, owner, ofOrganization(owner, { period: 'MONTH' })),
      make(graph, owner, ofOrganization(owner, { period: 'TOTAL' })),
      make(graph, owner, ofOrganization(owner, { scopeType: 'APP', scopeValue: 'app_payments', period: 'MONTH' })),
    ])
    expect(day).toEqual({
      ...{ id: day.id, level: 'ORGANIZATION', scopeType: 'ORGANIZATION', scopeValue: organization.id, period: 'DAY', softLimitMicros: null, unpriced: 'BLOCK' },
      ...{ hardLimit: { limitMicros: 1000, remainingMicros: 760 }, spentMicros: 240, reservedMicros: 0, alerts: [], note: 'For trials', version: 1 },
      resetsAt: '2027-03-03T00:00:00.000Z',
    })
    expect([month.spentMicros, total.spentMicros, app.spentMicros]).toEqual([540, 0, 40])
    expect([month.resetsAt, total.resetsAt]).toEqual(['2027-04-01T00:00:00.000Z', null])
    expect(await graph.rows(`select actor, action, details from providers.audit_entries where subject_id = $1`, [day.id])).toEqual([
      {
        ...{ actor: `user:${owner.userId}`, action: 'spend_limit.created' },
        details: { level: 'ORGANIZATION', scopeType: 'ORGANIZATION', scopeValue: organization.id, period: 'DAY' },
      },
    ])
  })

  test('counts the actual cost of calls that began before it', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const open = await callsOf(graph).begin(callerOf(organization.id), order(900n))
    const { id } = await make(graph, owner, ofOrganization(owner, { hardLimitMicros: 500 }))
    await open.settle(ended(800n))
    const limit = await read(graph, owner, id)
    expect([limit.spentMicros, limit.hardLimit.remainingMicros]).toEqual([800, 0])
    await expect(spend(graph, organization.id, 1n)).rejects.toMatchObject({ extensions: { code: 'BUDGET_EXCEEDED' } })
    const { hardLimit } = (await graph.execute(updateLimit, { input: { id, hardLimitMicros: 900 } }, { as: owner })).data().updateSpendLimit
    expect(hardLimit).toEqual({ limitMicros: 900, remainingMicros: 100 })
    await spend(graph, organization.id, 100n)
  })

  test('makes running calls of its scope look up limits again at their end, and no others', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    await callsOf(graph).begin({ ...callerOf(organization.id), userId: owner.userId }, order(9n))
    const looksAgain = async (scope: object) => {
      await graph.rows('update providers.calls set has_new_limit = false')
      await make(graph, owner, { ...scope, period: 'MONTH', hardLimitMicros: 1000 })
      return (await graph.rows<{ looks: boolean }>('select has_new_limit as looks from providers.calls'))[0]!.looks
    }
    const scopes = { APP: 'app_agents', PROVIDER_FAMILY: 'ai', USER: owner.userId, MODEL: model, ORGANIZATION: owner.organizationId }
    for (const [scopeType, scopeValue] of Object.entries(scopes)) expect([scopeType, await looksAgain({ scopeType, scopeValue })]).toEqual([scopeType, true])
    expect(await looksAgain({ scopeType: 'PROVIDER_FAMILY', scopeValue: 'email' })).toBe(false)
  })

  test('created while calls begin and end counts each of them once', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const caller = { ...callerOf(organization.id), userId: owner.userId }
    const scopes = [
      ...[ofOrganization(owner), { scopeType: 'APP', scopeValue: 'app_agents' }, { scopeType: 'PROVIDER_FAMILY', scopeValue: 'ai' }],
      ...[
        { scopeType: 'MODEL', scopeValue: model },
        { scopeType: 'USER', scopeValue: owner.userId },
      ],
    ]
    const mail = { family: 'EMAIL' as const, operation: 'email.send', provider: 'smtp', micros: 3n }
    const job = graph.platform.providers.job('test')
    for (let round = 0; round < 4; round += 1) {
      const open = await Promise.all(Array.from({ length: 60 }, () => callsOf(graph).begin(caller, order(9n))))
      const [limits] = await Promise.all([
        Promise.all(scopes.map(scope => make(graph, owner, { ...scope, period: 'MONTH', hardLimitMicros: null, softLimitMicros: 1 }))),
        ...open.map((call, index) => call.settle(ended(BigInt(index)))),
        ...open.map(async (_, index) => (await callsOf(graph).begin(caller, order(7n))).settle(ended(BigInt(index % 7)))),
        ...open.map(() => inTransaction(job, unit => job.calls.charge(caller, mail, unit))),
      ])
      const logged = await graph.rows<{ family: string; cost: number }>('select family, sum(cost_micros)::int as cost from providers.calls group by 1')
      const [ai, all] = [logged.find(({ family }) => family === 'AI')!.cost, logged.reduce((sum, { cost }) => sum + cost, 0)]
      const figures = await Promise.all(limits.map(async ({ id }) => read(graph, owner, id)))
      expect(figures.map(({ scopeType, spentMicros, reservedMicros }) => `${scopeType} ${spentMicros} ${reservedMicros}`)).toEqual([
        ...[`ORGANIZATION ${all} 0`, `APP ${all} 0`, `PROVIDER_FAMILY ${ai} 0`, `MODEL ${ai} 0`, `USER ${all} 0`],
      ])
      for (const { id } of limits) (await graph.execute(deleteLimit, { input: { id } }, { as: owner })).data()
      // Nobody remembers that there was one.
      await graph.clock.advance(10_001)
    }
  }, 60_000)

  test('waits for charges in progress, and counts them', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const job = graph.platform.providers.job('test')
    const [charged, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const charging = inTransaction(job, async unit => {
      await job.calls.charge(callerOf(organization.id), { family: 'EMAIL', operation: 'email.send', provider: 'smtp', micros: 30n }, unit)
      charged.resolve()
      await gate.promise
    })
    await charged.promise
    const making = make(graph, owner, ofOrganization(owner))
    const waits = async () => (await graph.rows(`select from pg_locks where locktype = 'advisory' and not granted`)).length
    await Promise.race([making, expect.poll(waits, { timeout: 10_000 }).toBe(1)])
    gate.resolve()
    await charging
    expect((await making).spentMicros).toBe(30)
  })

  test('restarts with each period; reservations over midnight count where they began', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const { id } = await make(graph, owner, ofOrganization(owner))
    await spend(graph, organization.id, 600n)
    const open = await callsOf(graph).begin(callerOf(organization.id), order(400n))
    await graph.clock.advance(15 * 3_600_000)
    expect(await read(graph, owner, id)).toMatchObject({ spentMicros: 0, reservedMicros: 0, alerts: [], hardLimit: { remainingMicros: 1000 } })
    const next = await callsOf(graph).begin(callerOf(organization.id), order(1000n))
    await open.settle(ended(400n))
    expect(await read(graph, owner, id)).toMatchObject({ spentMicros: 0, reservedMicros: 1000 })
    await next.settle(ended(999n))
    expect(await read(graph, owner, id)).toMatchObject({ spentMicros: 999, reservedMicros: 0 })
  })

  test('releases the reservation of a call that never ended, and still books it when it ends later', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const { id } = await make(graph, owner, ofOrganization(owner, { period: 'TOTAL' }))
    const open = await callsOf(graph).begin(callerOf(organization.id), order(1000n))
    await graph.clock.advance(14 * 60_000)
    expect((await read(graph, owner, id)).reservedMicros).toBe(1000)
    await graph.clock.advance(60_001)
    await round(graph)
    await expect.poll(async () => (await read(graph, owner, id)).reservedMicros).toBe(0)
    expect(await graph.rows('select status, cost_micros::int as cost from providers.calls')).toEqual([{ status: 'FAILED', cost: 0 }])
    await spend(graph, organization.id, 700n)
    await open.settle(ended(900n))
    expect((await read(graph, owner, id)).spentMicros).toBe(1600)
    expect(await graph.rows('select status, cost_micros::int as cost from providers.calls order by created_at')).toEqual([
      { status: 'SUCCEEDED', cost: 900 },
      { status: 'SUCCEEDED', cost: 700 },
    ])
  }, 60_000)

  test('sends each alert once a period, and an action item to its managers until then', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const { id } = await make(graph, owner, ofOrganization(owner, { softLimitMicros: 100 }))
    const kinds = async () => (await read(graph, owner, id)).alerts.map(({ kind }: { kind: string }) => kind)
    const facts = async () => (await told(graph)).map(({ kind, body }) => `${kind} ${body.kind ?? ''}`.trim())
    await spend(graph, organization.id, 100n)
    expect([await kinds(), await facts()]).toEqual([['SOFT'], []])
    await spend(graph, organization.id, 700n)
    expect(await kinds()).toEqual(['SOFT', 'PERCENT_50', 'PERCENT_80'])
    expect(await facts()).toEqual(['attention.opened BUDGET_NEAR_LIMIT'])
    expect((await told(graph))[0]!.body).toMatchObject({ key: `spend_limit:${id}`, organizationId: organization.id, subjectId: id, audience: 'managers' })
    await spend(graph, organization.id, 200n)
    expect(await kinds()).toEqual(['SOFT', 'PERCENT_50', 'PERCENT_80', 'PERCENT_95', 'EXHAUSTED'])
    expect(await facts()).toEqual(['attention.opened BUDGET_NEAR_LIMIT', 'attention.opened BUDGET_EXHAUSTED'])
    expect((await budgetAlerts(graph)).map(({ body }) => body)).toEqual(
      (await kinds()).map((kind: string) => ({ organizationId: organization.id, limitId: id, scopeType: 'ORGANIZATION', kind })),
    )
    ;(await graph.execute(updateLimit, { input: { id, hardLimitMicros: 10_000 } }, { as: owner })).data()
    expect((await facts()).at(-1)).toBe('attention.closed')
    await spend(graph, organization.id, 7_500n)
    expect([(await kinds()).length, (await facts()).at(-1)]).toEqual([5, 'attention.opened BUDGET_NEAR_LIMIT'])
    await graph.clock.advance(15 * 3_600_000)
    await round(graph)
    await expect.poll(async () => (await facts()).at(-1)).toBe('attention.closed')
    await spend(graph, organization.id, 100n)
    expect(await kinds()).toEqual(['SOFT'])
  }, 60_000)

  describe('that refuses a call', () => {
    const refused = (graph: Supergraph, organizationId: string, micros: bigint) =>
      expect(spend(graph, organizationId, micros)).rejects.toMatchObject({ extensions: { code: 'BUDGET_EXCEEDED' } })
    const facts = async (graph: Supergraph) => (await told(graph)).map(({ kind, body }) => `${kind} ${body.kind ?? ''}`.trim())

    test.each([
      ['because its amount is 0', 0, 0n, ['EXHAUSTED']],
      ['because the call does not fit though something is left', 1000, 620n, ['PERCENT_50', 'EXHAUSTED']],
    ] as const)('%s tells its managers once, however many are refused, and a smaller call that passes takes nothing back', async (_, hardLimitMicros, spent, alerts) => {
      await using graph = await supergraph()
      const { owner, organization } = await graph.seed.owner()
      const { id } = await make(graph, owner, ofOrganization(owner, { hardLimitMicros }))
      if (spent > 0n) await spend(graph, organization.id, spent)
      expect(await facts(graph)).toEqual([])
      await Promise.all(Array.from({ length: 20 }, () => refused(graph, organization.id, 400n)))
      await spend(graph, organization.id, spent > 0n ? 10n : 0n)
      await refused(graph, organization.id, 400n)
      expect(await facts(graph)).toEqual(['attention.opened BUDGET_EXHAUSTED'])
      expect((await told(graph))[0]!.body).toMatchObject({ key: `spend_limit:${id}`, organizationId: organization.id, subjectId: id, audience: 'managers' })
      expect((await read(graph, owner, id)).alerts.map(({ kind }: { kind: string }) => kind)).toEqual(alerts)
      expect((await budgetAlerts(graph)).map(({ body }) => body.kind)).toEqual(alerts)
    })

    test.each<readonly [string, (graph: Supergraph, owner: Viewer, id: string) => Promise<unknown>]>([
      ['it is raised', async (graph, owner, id) => (await graph.execute(updateLimit, { input: { id, hardLimitMicros: 2000 } }, { as: owner })).data()],
      ['it is removed', async (graph, owner, id) => (await graph.execute(deleteLimit, { input: { id } }, { as: owner })).data()],
      [
        'its period is over',
        async graph => {
          await graph.clock.advance(15 * 3_600_000)
          await round(graph)
        },
      ],
    ])('has managers see to that until %s', async (_, end) => {
      await using graph = await supergraph()
      const { owner, organization } = await graph.seed.owner()
      const { id } = await make(graph, owner, ofOrganization(owner))
      await refused(graph, organization.id, 1_001n)
      ;(await graph.execute(updateLimit, { input: { id, note: 'Seen', hardLimitMicros: 900 } }, { as: owner })).data()
      expect(await facts(graph)).toEqual(['attention.opened BUDGET_EXHAUSTED'])
      await end(graph, owner, id)
      await expect.poll(() => facts(graph)).toEqual(['attention.opened BUDGET_EXHAUSTED', 'attention.closed'])
    })
  })

  test('withdraws an alert of the soft amount when its period is over', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    await make(graph, owner, ofOrganization(owner, { hardLimitMicros: null, softLimitMicros: 100 }))
    await spend(graph, organization.id, 100n)
    expect([(await budgetAlerts(graph)).length, (await told(graph)).length]).toEqual([1, 0])
    await graph.clock.advance(15 * 3_600_000)
    await round(graph)
    await expect.poll(async () => (await told(graph)).map(({ kind }) => kind)).toEqual(['attention.closed'])
  })

  test('exists once for its level, scope and period, also when twenty are sent at once; the same key creates one', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const answers = await Promise.all(Array.from({ length: 20 }, () => tryToMake(graph, owner, ofOrganization(owner))))
    expect(answers.map(({ code }) => code ?? 'made').sort()).toEqual([...Array(19).fill('CONFLICT'), 'made'])
    await make(graph, owner, ofOrganization(owner, { period: 'MONTH' }))
    await make(graph, outsider, ofOrganization(outsider))
    const once = ofOrganization(owner, { period: 'TOTAL', idempotencyKey: 'k' })
    const made = await Promise.all(Array.from({ length: 8 }, () => make(graph, owner, once)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect((await tryToMake(graph, owner, { ...once, hardLimitMicros: 7 })).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
  })

  const refusing = shared(() => supergraph())
  test.each<readonly [string, object, string, string]>([
    ['nothing', { hardLimitMicros: null }, 'BAD_USER_INPUT', 'softLimitMicros'],
    ['a negative amount', { softLimitMicros: -1 }, 'BAD_USER_INPUT', 'softLimitMicros'],
    ['the platform, by an organization', { scopeType: 'PLATFORM', scopeValue: 'platform' }, 'BAD_USER_INPUT', 'scopeType'],
    ['another organization', { scopeValue: newId() }, 'NOT_FOUND', 'scopeValue'],
    ['an organization that is none', { scopeValue: 'mine' }, 'BAD_USER_INPUT', 'scopeValue'],
    ['somebody who is no member', { scopeType: 'USER', scopeValue: newId() }, 'NOT_FOUND', 'scopeValue'],
    ['an app that nobody knows', { scopeType: 'APP', scopeValue: 'app_nobody' }, 'BAD_USER_INPUT', 'scopeValue'],
    ['a family that is none', { scopeType: 'PROVIDER_FAMILY', scopeValue: 'AI' }, 'BAD_USER_INPUT', 'scopeValue'],
    ['a model without a provider', { scopeType: 'MODEL', scopeValue: 'gpt-5' }, 'BAD_USER_INPUT', 'scopeValue'],
    ['what takes too long to say', { note: 'n'.repeat(501) }, 'BAD_USER_INPUT', 'note'],
  ])('never limits %s', async (_, more, code, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    expect((await tryToMake(graph, owner, ofOrganization(owner, more))).refused(code as 'BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await graph.rows('select from providers.spend_limits')).toEqual([])
  })

  test('of a person requires a member, and ends with the membership', async () => {
    await using graph = await supergraph()
    const { owner, member, organization } = await graph.seed.owner().member()
    const input = { scopeType: 'USER', scopeValue: member.userId, period: 'DAY', softLimitMicros: 10 }
    const { id } = await make(graph, owner, input)
    await seedLimit(graph, { organizationId: organization.id, scopeType: 'USER', scopeValue: owner.userId!, softLimitMicros: 5n })
    const [membership] = await graph.rows<{ id: string }>('select id from identity.memberships where user_id = $1', [member.userId])
    const remove = 'mutation($input: RemoveMemberInput!) { removeMember(input: $input) { id } }'
    ;(await graph.execute(remove, { input: { id: membership!.id } }, { as: owner })).data()
    const left = () => graph.rows<{ value: string }>('select scope_value as value from providers.spend_limits')
    await expect.poll(left, { timeout: 10_000 }).toEqual([{ value: owner.userId }])
    expect(await graph.rows(`select action, details->>'why' as why from providers.audit_entries where subject_id = $1 order by at`, [id])).toEqual([
      { action: 'spend_limit.created', why: null },
      { action: 'spend_limit.deleted', why: 'membership.removed' },
    ])
  }, 60_000)
})

describe('G-04 hard limits', () => {
  test('are visible to and set by owners only: admins, keys and services set soft ones, and see neither amounts nor options', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const admin = person(newId(), organization.id, ['admin'])
    const program = key(organization.id, ['providers:limits.manage'])
    const { id } = await make(graph, owner, ofOrganization(owner, { softLimitMicros: 10 }))
    for (const other of [admin, program]) {
      expect(await read(graph, other, id)).toMatchObject({ hardLimit: null, softLimitMicros: 10 })
      ;(await tryToMake(graph, other, ofOrganization(owner, { period: 'MONTH' }))).refused('FORBIDDEN')
      for (const input of [{ hardLimitMicros: 5 }, { hardLimitMicros: null }, { unpriced: 'ALLOW' }])
        (await graph.execute(updateLimit, { input: { id, ...input } }, { as: other })).refused('FORBIDDEN')
      ;(await graph.execute(deleteLimit, { input: { id } }, { as: other })).refused('FORBIDDEN')
      ;(await graph.execute('{ hardLimitOptions { scopeType } }', {}, { as: other })).refused('FORBIDDEN')
    }
    const changed = await graph.execute(updateLimit, { input: { id, softLimitMicros: 20, expectedVersion: 1 } }, { as: admin })
    expect(changed.data().updateSpendLimit).toMatchObject({ softLimitMicros: 20, version: 2 })
    ;(await graph.execute(updateLimit, { input: { id, softLimitMicros: 30, expectedVersion: 1 } }, { as: admin })).refused('CONFLICT')
    const options = '{ hardLimitOptions { scopeType levels periods minMicros } }'
    expect((await graph.execute(options, {}, { as: owner })).data().hardLimitOptions).toContainEqual({
      ...{ scopeType: 'ORGANIZATION', levels: ['ORGANIZATION'], periods: ['DAY', 'MONTH', 'TOTAL'], minMicros: 0 },
    })
    expect((await graph.execute(options, {}, { as: superAdmin() })).data().hardLimitOptions).toContainEqual(
      expect.objectContaining({ scopeType: 'PLATFORM', levels: ['PLATFORM'] }),
    )
    ;(await graph.execute(deleteLimit, { input: { id } }, { as: owner })).data()
    // Admins read the record too: no amount of a hard limit stands in it.
    expect(await graph.rows(`select actor, action, details from providers.audit_entries where subject_id = $1 order by action`, [id])).toEqual(
      ['created', 'deleted', 'updated'].map(what => ({
        ...{ actor: `user:${(what === 'updated' ? admin : owner).userId}`, action: `spend_limit.${what}` },
        details: { level: 'ORGANIZATION', scopeType: 'ORGANIZATION', scopeValue: organization.id, period: 'DAY' },
      })),
    )
    ;(await graph.execute(oneLimit, { id }, { as: owner })).refused('NOT_FOUND')
  })
})

describe('G-04 limits of the platform', () => {
  test('are changed by its super admins, read by its admins, and hold every organization', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const [boss, reader] = [superAdmin(), person(newId(), newId(), ['owner', 'platform_admin'])]
    const input = { level: 'PLATFORM', scopeType: 'PLATFORM', scopeValue: 'platform', period: 'TOTAL', hardLimitMicros: 150 }
    ;(await tryToMake(graph, owner, input)).refused('FORBIDDEN')
    ;(await tryToMake(graph, reader, input)).refused('FORBIDDEN')
    expect((await tryToMake(graph, boss, { ...input, scopeValue: 'everything' })).refused('BAD_USER_INPUT').extensions.field).toBe('scopeValue')
    const { id } = await make(graph, boss, input)
    ;(await graph.execute(oneLimit, { id }, { as: owner })).refused('NOT_FOUND')
    ;(await graph.execute('{ spendLimits(level: PLATFORM) { totalCount } }', {}, { as: owner })).refused('FORBIDDEN')
    ;(await graph.execute(deleteLimit, { input: { id } }, { as: owner })).refused('FORBIDDEN')
    expect(await read(graph, reader, id)).toMatchObject({ level: 'PLATFORM', hardLimit: null })
    await spend(graph, organization.id, 100n)
    await expect(spend(graph, organization.id, 100n)).rejects.toMatchObject({ extensions: { code: 'BUDGET_EXCEEDED', scopeType: 'PLATFORM', resetsAt: null } })
    expect((await read(graph, boss, id)).spentMicros).toBe(100)
    expect((await told(graph)).map(({ body }) => [body.kind, body.organizationId])).toEqual([['BUDGET_EXHAUSTED', boss.organizationId]])
  })
})

describe('G-04 limits of models', () => {
  const [first, second] = ['openai/gpt-5-mini', 'anthropic/claude-haiku-4-5']
  const both = { candidates: [first, second].map(model => ({ model, provider: model.split('/')[0]!, upperMicros: 100n })) }

  test('skip a candidate that they do not cover, but reject the first; only the answering one is booked', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const at = { organizationId: organization.id, scopeType: 'MODEL' as const }
    const [ofFirst, ofSecond] = [
      await seedLimit(graph, { ...at, scopeValue: first, hardLimitMicros: 150n }),
      await seedLimit(graph, { ...at, scopeValue: second, hardLimitMicros: 250n }),
    ]
    const figures = async () => {
      const found = await graph.rows<{ id: string; figures: string }>(
        `select id, spent_micros || ' ' || reserved_micros as figures from providers.spend_limits`,
      )
      return [ofFirst, ofSecond].map(id => found.find(each => each.id === id)!.figures)
    }
    const open = await callsOf(graph).begin(callerOf(organization.id), order(null, both))
    expect(open.allowed).toEqual([first, second])
    expect(await figures()).toEqual(['0 100', '0 100'])
    await open.settle(ended(90n, { model: second, provider: 'anthropic' }))
    expect(await figures()).toEqual(['0 0', '90 0'])
    await graph.rows('update providers.spend_limits set spent_micros = 200 where id = $1', [ofSecond])
    expect((await callsOf(graph).begin(callerOf(organization.id), order(null, both))).allowed).toEqual([first])
    await expect(callsOf(graph).begin(callerOf(organization.id), order(null, both))).rejects.toMatchObject({ extensions: { scopeType: 'MODEL' } })
  })

  test('work for any model name', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    for (const model of ['custom/a "quoted" one', 'custom/back\\slash', 'custom/{a,b}', 'custom/NULL', 'custom/', 'custom/日本 語']) {
      const limit = await seedLimit(graph, { organizationId: organization.id, scopeType: 'MODEL', scopeValue: model, hardLimitMicros: 150n })
      const open = await callsOf(graph).begin(callerOf(organization.id), order(null, { candidates: [{ model, provider: 'custom', upperMicros: 100n }] }))
      await open.settle(ended(90n, { model, provider: 'custom' }))
      expect(await graph.rows('select spent_micros as spent from providers.spend_limits where id = $1', [limit]), model).toEqual([{ spent: '90' }])
    }
  })

  test('reject a model with unknown price when a limit requires one', async () => {
    await using graph = await supergraph()
    const { organization } = await graph.seed.owner()
    const unpriced = { candidates: [{ model: first, provider: 'openai', upperMicros: null }] }
    const limit = await seedLimit(graph, { organizationId: organization.id, scopeType: 'MODEL', scopeValue: first, hardLimitMicros: 150n })
    const begin = () => callsOf(graph).begin(callerOf(organization.id), order(null, unpriced))
    await expect(begin()).rejects.toMatchObject({ extensions: { code: 'FORBIDDEN', reason: 'model_unpriced' } })
    await graph.rows(`update providers.spend_limits set unpriced = 'ALLOW' where id = $1`, [limit])
    expect((await begin()).allowed).toEqual([first])
  })
})

describe('G-04 a limit that is followed', () => {
  test('publishes its figures within a second of a call, to its own organization only', async () => {
    await using graph = await supergraph()
    const { owner, outsider, organization } = await graph.seed.owner().outsider()
    const { id } = await make(graph, owner, ofOrganization(owner, { hardLimitMicros: 10_000 }))
    const follow = 'subscription($id: ID!) { spendLimitChanged(id: $id) { spentMicros reservedMicros } }'
    ;(await graph.refusedSubscription(follow, { id }, { as: outsider })).refused('NOT_FOUND')
    const stream = await graph.subscribe(follow, { id }, { as: owner })
    await Promise.all(Array.from({ length: 5 }, () => spend(graph, organization.id, 10n)))
    await stream.next(({ spendLimitChanged }) => spendLimitChanged.spentMicros === 50 && spendLimitChanged.reservedMicros === 0)
    ;(await graph.execute(updateLimit, { input: { id, note: 'Seen' } }, { as: owner })).data()
    await stream.next()
    await stream.end()
    expect(graph.listeners()).toBe(0)
  })
})
