import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anonymous, type Viewer } from '../../../../subgraphs/viewer.ts'
import { until } from '../../../kit/launch.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key } from '../../../kit/viewers.ts'
import { seedAttention, seedClosed } from './seed.ts'

const list = '{ actionItems { nodes { id } } }'
const complete = 'mutation($input: CompleteActionItemInput!) { completeActionItem(input: $input) { id status version } }'
const queue = 'subscription { actionQueueChanged { id status } }'
const one = 'query($id: ID!) { actionItem(id: $id) { id kind title url status version createdAt subject { service id } } }'

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterAll(() => graph[Symbol.asyncDispose]())

const seen = async (as: Viewer): Promise<string[]> => {
  const { actionItems } = (await graph.execute(list, {}, { as })).data()
  return actionItems.nodes.map(({ id }: { id: string }) => id)
}
const statusOf = async (id: string, as: Viewer) => (await graph.execute(one, { id }, { as })).data().actionItem.status
const personal = (viewer: Viewer): Viewer => ({ ...viewer, organizationId: null, roles: [], context: 'personal' })

describe('G-11 visibility of items', () => {
  test('members see the organization’s items, owners and admins those for managers, a person their own, and others none', async () => {
    const { owner, member, outsider, organization } = await graph.seed.owner().member().outsider()
    const of = { organizationId: organization.id }
    const forAll = await seedAttention(graph, of)
    await graph.clock.advance(1000)
    const forManagers = await seedAttention(graph, { ...of, audience: 'managers' })
    await graph.clock.advance(1000)
    const forMember = await seedAttention(graph, { ...of, audience: 'person', userId: member.userId! })
    const alone = await seedAttention(graph, { organizationId: null, audience: 'person', userId: member.userId! })
    const program = key(organization.id, ['launcher:notifications.read'])
    expect(await seen(owner)).toEqual([forManagers.id, forAll.id])
    expect(await seen(member)).toEqual([forMember.id, forAll.id])
    expect(await seen(program)).toEqual([forAll.id])
    expect(await seen(outsider)).toEqual([])
    expect(await seen(personal(member))).toEqual([alone.id])
    expect(await seen(personal(owner))).toEqual([])
    for (const [item, as] of [
      [forManagers, member],
      [forMember, owner],
      [alone, member],
      [forAll, personal(member)],
      [forAll, outsider],
    ] as const) {
      ;(await graph.execute(one, { id: item.id }, { as })).refused('NOT_FOUND')
      ;(await graph.execute(complete, { input: { id: item.id } }, { as })).refused('NOT_FOUND')
    }
    ;(await graph.execute(list, {}, { as: anonymous })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
  })

  test('an item has its kind, its service and the page to act on', async () => {
    const { owner, organization } = await graph.seed.owner()
    const { id, opened } = await seedAttention(graph, { organizationId: organization.id, kind: 'OUTCOME_UNKNOWN' })
    expect((await graph.execute(one, { id }, { as: owner })).data().actionItem).toEqual({
      id,
      kind: 'OUTCOME_UNKNOWN',
      title: opened.body.title,
      url: opened.body.url,
      status: 'OPEN',
      version: 1,
      createdAt: graph.clock.now().toISOString(),
      subject: { service: 'publishing', id: opened.body.subjectId },
    })
  })
})

describe('G-11 changes of an item', () => {
  test('a person who sees it marks it done: it leaves all lists, the audit log names the person, and a repetition changes nothing', async () => {
    const { owner, member, organization } = await graph.seed.owner().member()
    const { id } = await seedAttention(graph, { organizationId: organization.id })
    const done = (await graph.execute(complete, { input: { id, expectedVersion: 1 } }, { as: member })).data().completeActionItem
    expect(done).toEqual({ id, status: 'DONE', version: 2 })
    expect([await seen(owner), await seen(member)]).toEqual([[], []])
    expect((await graph.execute(complete, { input: { id } }, { as: owner })).data().completeActionItem).toEqual(done)
    ;(await graph.execute(complete, { input: { id, expectedVersion: 1 } }, { as: owner })).refused('CONFLICT')
    expect(await graph.rows('select actor, action from launcher.audit_entries where subject_id = $1', [id])).toEqual([
      { actor: `user:${member.userId}`, action: 'action_item.completed' },
    ])
  })

  test('a key that may only read cannot complete it, one that may write can', async () => {
    const { organization } = await graph.seed.owner()
    const { id } = await seedAttention(graph, { organizationId: organization.id })
    ;(await graph.execute(complete, { input: { id } }, { as: key(organization.id, ['launcher:notifications.read']) })).refused('FORBIDDEN')
    const done = (await graph.execute(complete, { input: { id } }, { as: key(organization.id, ['launcher:notifications.write']) })).data()
    expect(done.completeActionItem.status).toBe('DONE')
  })

  test('when its cause is gone it is resolved, whatever was done before, and accepts no action', async () => {
    const { owner, organization } = await graph.seed.owner()
    const { id, key } = await seedAttention(graph, { organizationId: organization.id })
    await graph.execute(complete, { input: { id } }, { as: owner })
    await seedClosed(graph, key)
    expect([await seen(owner), await statusOf(id, owner)]).toEqual([[], 'RESOLVED'])
    expect((await graph.execute(complete, { input: { id } }, { as: owner })).refused('CONFLICT').extensions).toMatchObject({ reason: 'RESOLVED' })
  })

  test('an open item that is opened again is changed, and stays one item', async () => {
    const { owner, organization } = await graph.seed.owner()
    const of = { organizationId: organization.id }
    const { id, key } = await seedAttention(graph, { ...of, kind: 'OUTCOME_UNKNOWN' })
    const again = await seedAttention(graph, { ...of, key, kind: 'POST_FAILED', title: 'It is not there' })
    expect([again.id, await seen(owner)]).toEqual([id, [id]])
    expect((await graph.execute(one, { id }, { as: owner })).data().actionItem).toMatchObject({ kind: 'POST_FAILED', title: 'It is not there', version: 2 })
  })

  test('an item marked done returns when its cause returns later, and not by late facts of before', async () => {
    const { owner, organization } = await graph.seed.owner()
    const of = { organizationId: organization.id }
    const before = graph.clock.now().toISOString()
    const { id, key } = await seedAttention(graph, of)
    await graph.clock.advance(1000)
    await graph.execute(complete, { input: { id } }, { as: owner })
    await seedAttention(graph, { ...of, key, at: before })
    expect(await statusOf(id, owner)).toBe('DONE')
    await graph.clock.advance(1)
    await seedAttention(graph, { ...of, key })
    expect([await statusOf(id, owner), await seen(owner)]).toEqual(['OPEN', [id]])
  })

  test('an item closed by its service reopens when the service says so, whatever its clock; a repeated fact does nothing', async () => {
    const { owner, organization } = await graph.seed.owner()
    const of = { organizationId: organization.id }
    const { id, key, opened } = await seedAttention(graph, of)
    await seedClosed(graph, key)
    await graph.platform.launcher.receive!(opened)
    expect(await statusOf(id, owner)).toBe('RESOLVED')
    await seedAttention(graph, { ...of, key, at: graph.clock.in(-60_000).toISOString() })
    expect(await statusOf(id, owner)).toBe('OPEN')
  })

  test('two services may use the same key, and closing an unknown item does nothing', async () => {
    const { owner, organization } = await graph.seed.owner()
    await seedClosed(graph, 'post:unknown')
    const { id } = await seedAttention(graph, { organizationId: organization.id, key: 'same' })
    await graph.rows(`update launcher.action_items set app = 'agents' where id = $1`, [id])
    const other = await seedAttention(graph, { organizationId: organization.id, key: 'same' })
    expect([...(await seen(owner))].sort()).toEqual([id, other.id].sort())
    await seedClosed(graph, 'same')
    expect(await seen(owner)).toEqual([id])
  })
})

describe('G-11 subscriptions to items', () => {
  test('viewers of an item receive its creation, changes, completion and removal; others and new subscribers get nothing', async () => {
    const { owner, member, organization } = await graph.seed.owner().member()
    const of = { organizationId: organization.id }
    await seedAttention(graph, of)
    await using managers = await graph.subscribe(queue, {}, { as: owner })
    await using members = await graph.subscribe(queue, {}, { as: member })
    const { id, key } = await seedAttention(graph, { ...of, audience: 'managers' })
    expect((await managers.next()).actionQueueChanged).toEqual({ id, status: 'OPEN' })
    await graph.execute(complete, { input: { id } }, { as: owner })
    expect((await managers.next()).actionQueueChanged).toEqual({ id, status: 'DONE' })
    await seedClosed(graph, key)
    expect((await managers.next()).actionQueueChanged).toEqual({ id, status: 'RESOLVED' })
    const forAll = await seedAttention(graph, of)
    expect((await members.next()).actionQueueChanged).toEqual({ id: forAll.id, status: 'OPEN' })
    expect(members.events).toHaveLength(1)
  })
})

test('G-11 resyncs read only the items of listening viewers', async () => {
  const { member, owner, organization, outsider } = await graph.seed.owner().member().outsider()
  const of = { organizationId: organization.id }
  const person = { audience: 'person', userId: member.userId! } as const
  const items = {
    all: await seedAttention(graph, of),
    managers: await seedAttention(graph, { ...of, audience: 'managers' }),
    mine: await seedAttention(graph, { ...of, ...person }),
    alone: await seedAttention(graph, { organizationId: null, ...person }),
    elsewhere: await seedAttention(graph, { organizationId: outsider.organizationId }),
  }
  const reading = { fresh: true, signal: new AbortController().signal, read() {}, statement: <T>(run: () => Promise<T>) => run(), requestId: 'test' }
  const { actionItems } = graph.platform.launcher.open(owner, reading)
  const found = async (place: Parameters<typeof actionItems.changedSince>[0], since = graph.clock.now()) =>
    (await actionItems.changedSince(place, since)).map(({ id }) => Object.entries(items).find(([, each]) => each.id === id)?.[0])
  expect(await found({ ...of, audience: 'organization', userId: null })).toEqual(['all'])
  expect(await found({ ...of, audience: 'managers', userId: null })).toEqual(['managers'])
  expect(await found({ ...of, ...person })).toEqual(['mine'])
  expect(await found({ organizationId: null, ...person })).toEqual(['alone'])
  expect(await found({ ...of, audience: 'person', userId: owner.userId })).toEqual([])
  expect(await found({ ...of, audience: 'organization', userId: null }, graph.clock.in(1))).toEqual([])
})

describe('G-11 the item of a failed post', () => {
  const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
  const reschedule = 'mutation($input: ReschedulePostInput!) { reschedulePost(input: $input) { status } }'

  test('is published by subscription, and closes once the post is rescheduled', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    await using live = await graph.subscribe(queue, {}, { as: owner })
    const made = (
      await graph.execute(
        createPost,
        { input: { brandId: brand.id, platform: 'X', copy: 'No account to send this by', scheduledAt: graph.clock.soon() } },
        { as: owner },
      )
    ).data()
    await graph.clock.run(65_000)
    const { id, status } = (await live.next()).actionQueueChanged
    expect(status).toBe('OPEN')
    const item = (await graph.execute(one, { id }, { as: owner })).data().actionItem
    expect(item).toMatchObject({
      kind: 'POST_FAILED',
      title: 'Post for X failed: “No account to send this by”',
      url: `http://localhost:4000/publishing/posts/${made.createPost.id}`,
      subject: { service: 'publishing', id: made.createPost.id },
    })
    await graph.execute(reschedule, { input: { id: made.createPost.id, scheduledAt: graph.clock.soon(3_600_000) } }, { as: owner })
    expect((await live.next()).actionQueueChanged).toEqual({ id, status: 'RESOLVED' })
    expect(await seen(owner)).toEqual([])
    const waiting = 'select from publishing.facts where delivered_at is null'
    await until('all is noted as delivered', async () => (await graph.rows(waiting)).length === 0)
  })
})

describe('G-11 the item of a spend limit', () => {
  const makeLimit = 'mutation($input: CreateSpendLimitInput!) { createSpendLimit(input: $input) { id } }'
  const removeLimit = 'mutation($input: DeleteSpendLimitInput!) { deleteSpendLimit(input: $input) { id } }'
  const waiting = '{ actionItems { nodes { id kind title subject { service id } } } }'
  const call = { family: 'AI', operation: 'chat.completions', requestedModel: null } as const

  test('is one for managers over all its alerts and rejections, and closes with its deletion', async () => {
    const { owner, member, organization } = await graph.seed.owner().member()
    const { calls } = graph.platform.providers.job('test')
    const spend = async (upperMicros: bigint) => {
      const candidates = [{ model: null, provider: 'openai', upperMicros }]
      const open = await calls.begin({ organizationId: organization.id, userId: owner.userId, appId: 'app_agents' }, { ...call, candidates })
      await open.settle({ status: 'SUCCEEDED', model: null, provider: 'openai', costMicros: upperMicros })
    }
    const items = async () => (await graph.execute(waiting, {}, { as: owner })).data().actionItems.nodes
    const input = { scopeType: 'ORGANIZATION', scopeValue: organization.id, period: 'TOTAL', softLimitMicros: 100, hardLimitMicros: 1000 }
    const { id } = (await graph.execute(makeLimit, { input }, { as: owner })).data().createSpendLimit
    const becomes = (kind: string, title: string) =>
      expect.poll(items, { timeout: 10_000 }).toMatchObject([{ kind, title: expect.stringContaining(title), subject: { service: 'providers', id } }])
    await spend(100n)
    await becomes('BUDGET_ALERT', 'The soft amount of a spend limit of the organization is spent')
    const [first] = await items()
    await spend(400n)
    await becomes('BUDGET_ALERT', 'Half of a spend limit of the organization is spent')
    await spend(350n)
    await becomes('BUDGET_NEAR_LIMIT', 'is nearly used up')
    await expect(spend(151n)).rejects.toMatchObject({ code: 'BUDGET_EXCEEDED' })
    await becomes('BUDGET_EXHAUSTED', 'refuses calls')
    await spend(100n)
    await until('all is noted as delivered', async () => (await graph.rows('select from providers.facts where delivered_at is null')).length === 0)
    expect((await items()).map(({ id, kind }: { id: string; kind: string }) => [id, kind])).toEqual([[first.id, 'BUDGET_EXHAUSTED']])
    expect(await seen(member)).toEqual([])
    ;(await graph.execute(removeLimit, { input: { id } }, { as: owner })).data()
    await expect.poll(() => statusOf(first.id, owner), { timeout: 10_000 }).toBe('RESOLVED')
  }, 60_000)
})
