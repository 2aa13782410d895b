import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { seedCall } from './seed.ts'

const list = `query($family: ProviderFamily, $appId: String, $userId: ID, $model: String, $status: CallStatus, $since: DateTime, $until: DateTime, $first: Int, $after: String) {
  providerCalls(family: $family, appId: $appId, userId: $userId, model: $model, status: $status, since: $since, until: $until, first: $first, after: $after) {
    nodes { id } pageInfo { hasNextPage endCursor } totalCount } }`
const summed = `query($groupBy: [UsageGroup!]!, $appId: String, $since: DateTime, $until: DateTime) { usage(groupBy: $groupBy, appId: $appId, since: $since, until: $until) {
  appId user { id } model provider family day calls failedCalls inputTokens outputTokens units costMicros } }`
const hour = 3_600_000

/** Calls of one organization, an hour apart, and one of another. */
async function world(graph: Supergraph) {
  const { owner, organization } = await graph.seed.owner()
  const { owner: stranger } = await graph.seed.owner()
  const organizationId = organization.id
  const at = (hoursAgo: number) => new Date(graph.clock.now().getTime() - hoursAgo * hour)
  const calls = {
    plain: await seedCall(graph, { organizationId, userId: owner.userId, createdAt: at(1) }),
    mail: await seedCall(graph, {
      organizationId,
      appId: 'app_mail',
      family: 'EMAIL',
      operation: 'mail',
      model: null,
      provider: 'smtp',
      units: 1,
      costMicros: 100n,
      createdAt: at(2),
    }),
    failed: await seedCall(graph, {
      organizationId,
      appId: 'app_mail',
      status: 'FAILED',
      model: null,
      provider: null,
      requestedModel: 'openai/gpt-5-mini',
      costMicros: 0n,
      createdAt: at(3),
    }),
    old: await seedCall(graph, {
      organizationId,
      appId: 'app_mail',
      userId: owner.userId,
      model: 'anthropic/claude-haiku-4-5',
      provider: 'anthropic',
      costMicros: null,
      createdAt: at(50),
    }),
  }
  await seedCall(graph, { organizationId: stranger.organizationId!, costMicros: 5_000_000n })
  const found = async (variables: object = {}, as = owner) => {
    const { nodes, totalCount } = (await graph.execute(list, { ...variables }, { as })).data().providerCalls
    expect(totalCount).toBe(nodes.length)
    return nodes.map(({ id }: { id: string }) => Object.entries(calls).find(([, call]) => call.id === id)?.[0])
  }
  const usage = async (variables: object, as = owner) => (await graph.execute(summed, { ...variables }, { as })).data().usage
  return { owner, stranger, calls, at, found, usage }
}

describe('G-13 reading calls', () => {
  test('filters by their properties, newest first, page by page', async () => {
    await using graph = await supergraph()
    const { owner, found, at, calls } = await world(graph)
    expect(await found()).toEqual(['plain', 'mail', 'failed', 'old'])
    expect(await found({ family: 'EMAIL' })).toEqual(['mail'])
    expect(await found({ appId: 'app_mail' })).toEqual(['mail', 'failed', 'old'])
    expect(await found({ userId: owner.userId })).toEqual(['plain', 'old'])
    expect(await found({ model: 'openai/gpt-5-mini' })).toEqual(['plain', 'failed'])
    expect(await found({ status: 'FAILED' })).toEqual(['failed'])
    expect(await found({ since: at(2).toISOString() })).toEqual(['plain', 'mail'])
    expect(await found({ until: at(2).toISOString() })).toEqual(['failed', 'old'])
    const page = (await graph.execute(list, { first: 2 }, { as: owner })).data().providerCalls
    expect([page.nodes[1].id, page.totalCount, page.pageInfo.hasNextPage]).toEqual([calls.mail.id, 4, true])
    const next = (await graph.execute(list, { first: 2, after: page.pageInfo.endCursor }, { as: owner })).data().providerCalls
    expect(next.nodes.map(({ id }: { id: string }) => id)).toEqual([calls.failed.id, calls.old.id])
    for (const wrong of [{ appId: '' }, { model: 'x'.repeat(501) }, { userId: 'nobody' }])
      (await graph.execute(list, wrong, { as: owner })).refused('BAD_USER_INPUT')
  })

  test('shows each with its figures, and never to another organization', async () => {
    await using graph = await supergraph()
    const { owner, stranger, calls, found } = await world(graph)
    const one = `query($id: ID!) { providerCall(id: $id) { id family operation status appId user { id } organization { id } requestedModel model provider inputTokens
      outputTokens units costMicros latencyMs firstByteMs attempts { provider } prompt createdAt } }`
    expect((await graph.execute(one, { id: calls.plain.id }, { as: owner })).data().providerCall).toEqual({
      ...{ id: calls.plain.id, family: 'AI', operation: 'chat.completions', status: 'SUCCEEDED', appId: 'app_providers', user: { id: owner.userId } },
      ...{
        organization: { id: owner.organizationId },
        requestedModel: null,
        model: 'openai/gpt-5-mini',
        provider: 'openai',
        inputTokens: 10,
        outputTokens: 20,
      },
      ...{ units: null, costMicros: 43, latencyMs: 7, firstByteMs: null, attempts: [], prompt: null, createdAt: calls.plain.createdAt.toISOString() },
    })
    ;(await graph.execute(one, { id: calls.plain.id }, { as: stranger })).refused('NOT_FOUND')
    expect(await found({ userId: owner.userId }, stranger)).toEqual([])
  })

  test('of many as of few, in as many statements', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const ask = () =>
      graph.execute('{ providerCalls(first: 50) { nodes { id user { id } organization { id } attempts { provider } } totalCount } }', {}, { as: owner })
    const statements = async () => (await graph.statements(async () => void (await ask()).data())).filter(text => /providers\.calls/.test(String(text))).length
    for (let at = 0; at < 3; at++) await seedCall(graph, { organizationId: owner.organizationId!, userId: owner.userId })
    const few = await statements()
    for (let at = 0; at < 40; at++) await seedCall(graph, { organizationId: owner.organizationId!, userId: owner.userId })
    expect([few, await statements()]).toEqual([2, 2])
  })
})

describe('G-13 usage sums', () => {
  test('by any of its groups, and equals the log', async () => {
    await using graph = await supergraph()
    const { owner, usage, at } = await world(graph)
    expect(await usage({ groupBy: ['MODEL', 'APP', 'APP'] })).toMatchObject([
      { appId: 'app_mail', model: null, calls: 2, failedCalls: 1, costMicros: 100, units: 1, provider: null, user: null, family: null, day: null },
      { appId: 'app_providers', model: 'openai/gpt-5-mini', calls: 1, failedCalls: 0, inputTokens: 10, outputTokens: 20, costMicros: 43 },
      { appId: 'app_mail', model: 'anthropic/claude-haiku-4-5', calls: 1, costMicros: 0 },
    ])
    expect((await usage({ groupBy: ['USER'] })).map(({ user, calls }: { user: { id: string } | null; calls: number }) => [user?.id ?? null, calls])).toEqual([
      [null, 2],
      [owner.userId, 2],
    ])
    expect((await usage({ groupBy: ['DAY'] })).map(({ day, calls }: { day: string; calls: number }) => [day, calls])).toEqual([
      ['2027-03-01', 3],
      ['2027-02-27', 1],
    ])
    expect(await usage({ groupBy: ['FAMILY', 'PROVIDER'], appId: 'app_mail', since: at(2).toISOString() })).toMatchObject([
      { family: 'EMAIL', provider: 'smtp', calls: 1 },
    ])
    expect(await usage({ groupBy: ['FAMILY'], until: at(40).toISOString() })).toMatchObject([{ family: 'AI', calls: 1 }])
  })

  test('are within an organization, and not older than stored calls', async () => {
    await using graph = await supergraph()
    const { stranger, owner, usage } = await world(graph)
    expect(await usage({ groupBy: ['APP'] }, stranger)).toMatchObject([{ calls: 1, costMicros: 5_000_000 }])
    expect(await usage({ groupBy: ['APP'] }, person(newId(), newId(), ['member']))).toEqual([])
    ;(await graph.execute(summed, { groupBy: [] }, { as: owner })).refused('BAD_USER_INPUT')
    ;(await graph.execute(summed, { groupBy: ['APP'], since: '2025-12-31T00:00:00Z' }, { as: owner })).refused('BAD_USER_INPUT')
  })

  test('are by app, with names, the latest callers first', async () => {
    await using graph = await supergraph()
    const { owner, calls } = await world(graph)
    await graph.rows(
      `insert into providers.service_clients (id, app_id, name, operations, active, created_at, updated_at, created_by) values ($1, 'app_mail', 'Mail service', '{}', true, now(), now(), 'test')`,
      [newId()],
    )
    const apps = (await graph.execute('{ providerApps { appId title lastUsedAt calls costMicros } }', {}, { as: owner })).data().providerApps
    expect(apps).toEqual([
      { appId: 'app_providers', title: 'Providers', lastUsedAt: calls.plain.createdAt.toISOString(), calls: 1, costMicros: 43 },
      { appId: 'app_mail', title: 'Mail service', lastUsedAt: calls.mail.createdAt.toISOString(), calls: 3, costMicros: 100 },
    ])
  })
})
