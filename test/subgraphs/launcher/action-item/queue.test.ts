import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../kit/statements.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { key, personally } from '../../../kit/viewers.ts'
import { seedAttention, seedClosed } from './seed.ts'

let graph: Supergraph
let owner: Viewer
let member: Viewer
let viewer: Viewer
let outsider: Viewer
let of: { organizationId: string }
beforeAll(async () => {
  graph = await supergraph()
})
beforeEach(async () => {
  ;({ owner, member, viewer, outsider } = await graph.seed.owner().member().viewer().outsider())
  of = { organizationId: owner.organizationId! }
})
afterAll(() => graph[Symbol.asyncDispose]())

const ask = (as: Viewer, document: string, variables: object = {}) => graph.execute(document, variables as Record<string, unknown>, { as })
const listed = async (as: Viewer, filter = ''): Promise<string[]> =>
  (await ask(as, `{ actionItems${filter && `(${filter})`} { nodes { id } } }`)).data().actionItems.nodes.map(({ id }: { id: string }) => id)
const counts = async (as: Viewer) => (await ask(as, '{ actionCounts { open critical assignedToMe snoozed } }')).data().actionCounts
const shown = 'id status version assignee { id } closedBy { id } closedAt snoozedUntil'
const change = (as: Viewer, name: string, input: object, selection = shown) =>
  ask(as, `mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${selection} } }`, { input })
const changed = async (as: Viewer, name: string, input: object, selection?: string) => (await change(as, name, input, selection)).data()[name]
const read = async (as: Viewer, id: string) => (await ask(as, `query($id: ID!) { actionItem(id: $id) { ${shown} } }`, { id })).data().actionItem
const seed = async (more: Partial<Parameters<typeof seedAttention>[1]> = {}) => {
  await graph.clock.advance(1000)
  return seedAttention(graph, { ...of, ...more })
}
const hours = (count: number) => graph.clock.in(count * 3_600_000).toISOString()

describe('actionItems', () => {
  it('lists the most severe first, then the latest, also over pages', async () => {
    const low = await seed({ severity: 'LOW' })
    const [critical, high] = [await seed({ severity: 'CRITICAL' }), await seed({ severity: 'HIGH' })]
    const [normal, later] = [
      await seed({ severity: 'NORMAL', audience: 'managers' }),
      await seed({ severity: 'HIGH', audience: 'person', userId: owner.userId! }),
    ]
    const wanted = [critical.id, later.id, high.id, normal.id, low.id]
    expect(await listed(owner)).toEqual(wanted)
    const paged: string[] = []
    for (let after: string | null = null, more = true; more; ) {
      const document = 'query($after: String) { actionItems(first: 2, after: $after) { nodes { id } totalCount pageInfo { hasNextPage endCursor } } }'
      const { nodes, totalCount, pageInfo }: { nodes: { id: string }[]; totalCount: number; pageInfo: { hasNextPage: boolean; endCursor: string } } = (
        await ask(owner, document, { after })
      ).data().actionItems
      expect(totalCount).toBe(5)
      paged.push(...nodes.map(({ id }) => id))
      ;[after, more] = [pageInfo.endCursor, pageInfo.hasNextPage]
    }
    expect(paged).toEqual(wanted)
  })

  it('filters by status, app, kind, severity and assignment', async () => {
    const [failed, unknown, done] = [await seed(), await seed({ kind: 'PAYMENT_UNKNOWN' }), await seed()]
    await graph.rows(`update launcher.action_items set app = 'payments' where id = $1`, [unknown.id])
    await changed(owner, 'completeActionItem', { id: done.id })
    await changed(owner, 'assignActionItem', { id: failed.id, assigneeId: member.userId })
    expect(await listed(owner, 'app: "payments"')).toEqual([unknown.id])
    expect(await listed(owner, 'kind: "POST_FAILED"')).toEqual([failed.id])
    expect(await listed(owner, 'severity: CRITICAL')).toEqual([unknown.id])
    expect(await listed(owner, 'status: [DONE]')).toEqual([done.id])
    expect(await listed(owner, 'status: [RESOLVED]')).toEqual([])
    expect(await listed(owner, 'status: [OPEN, DONE, SNOOZED, RESOLVED], severity: HIGH')).toEqual([done.id, failed.id])
    expect(await listed(member, 'assignedToMe: true')).toEqual([failed.id])
    expect(await listed(owner, 'assignedToMe: true')).toEqual([])
    expect(await listed(key(of.organizationId, ['launcher:notifications.read']), 'assignedToMe: true')).toEqual([])
    ;(await ask(owner, '{ actionItems(status: []) { nodes { id } } }')).refused('BAD_USER_INPUT')
    ;(await ask(owner, '{ actionItems(after: "x") { nodes { id } } }')).refused('BAD_USER_INPUT')
  })

  it('reads a page of people with all fields in two statements, however long it is', async () => {
    for (let made = 0; made < 5; made += 1) await seed()
    // What reaches people about the items is written meanwhile.
    const background = /launcher\.(?:facts|inbox|notices|notifications|notification_preferences|messages|mails|push_subscriptions)|_jobs\./
    const document = (first: number) => `{ actionItems(first: ${first}) { nodes { ${shown} subject { id } organization { id } } } }`
    await ask(owner, document(1))
    for (const first of [1, 5]) {
      const { statements } = await countStatements(() => ask(owner, document(first)), { ignore: background })
      expect(statements.filter(text => text.includes('launcher.'))).toHaveLength(2)
    }
  })
})

describe('actionCounts', () => {
  it('counts what the viewer sees: open, critical, assigned and snoozed', async () => {
    const [one, two] = [await seed(), await seed({ kind: 'DISPUTE', audience: 'managers' })]
    await seed()
    await changed(owner, 'assignActionItem', { id: two.id, assigneeId: owner.userId })
    await changed(owner, 'snoozeActionItem', { id: one.id, until: hours(1) })
    expect(await counts(owner)).toEqual({ open: 2, critical: 1, assignedToMe: 1, snoozed: 1 })
    expect(await counts(member)).toEqual({ open: 2, critical: 0, assignedToMe: 0, snoozed: 0 })
    expect(await counts(outsider)).toEqual({ open: 0, critical: 0, assignedToMe: 0, snoozed: 0 })
    expect(await counts({ ...personally(member), scopes: member.scopes })).toEqual({ open: 0, critical: 0, assignedToMe: 0, snoozed: 0 })
  })
})

describe('completeActionItem and reopenActionItem', () => {
  it('name who closed it, and open it again for everybody', async () => {
    const { id } = await seed()
    const done = await changed(member, 'completeActionItem', { id, note: 'Posted by hand' })
    expect(done).toMatchObject({ status: 'DONE', closedBy: { id: member.userId }, closedAt: graph.clock.now().toISOString() })
    expect(await changed(owner, 'reopenActionItem', { id, expectedVersion: 2 })).toMatchObject({ status: 'OPEN', closedBy: null, closedAt: null, version: 3 })
    expect(await listed(member)).toEqual([id])
    expect(await changed(owner, 'reopenActionItem', { id })).toMatchObject({ version: 3 })
    const lines = await graph.rows('select action, details from launcher.audit_entries where subject_id = $1 order by at, action', [id])
    expect(lines).toEqual([
      { action: 'action_item.completed', details: { note: 'Posted by hand' } },
      { action: 'action_item.reopened', details: {} },
    ])
  })

  it('refuse every verb on an item whose cause is gone', async () => {
    const { id, key } = await seed()
    await seedClosed(graph, key)
    for (const [name, input] of [
      ['completeActionItem', {}],
      ['reopenActionItem', {}],
      ['assignActionItem', { assigneeId: member.userId }],
      ['snoozeActionItem', { until: hours(1) }],
      ['snoozeActionItem', { until: null }],
    ] as const)
      expect((await change(owner, name, { id, ...input })).refused('CONFLICT').extensions.reason, name).toBe('RESOLVED')
  })
})

describe('completeActionItems', () => {
  it('closes each on its own, and says which were refused', async () => {
    const [mine, gone, theirs] = [await seed(), await seed(), await seedAttention(graph, { organizationId: outsider.organizationId! })]
    await seedClosed(graph, gone.key)
    const report = await changed(
      owner,
      'completeActionItems',
      { ids: [mine.id, theirs.id, gone.id, 'nonsense'] },
      'succeeded failed results { id item { status } error { code } }',
    )
    expect(report).toEqual({
      succeeded: 1,
      failed: 3,
      results: [
        { id: mine.id, item: { status: 'DONE' }, error: null },
        { id: theirs.id, item: null, error: { code: 'NOT_FOUND' } },
        { id: gone.id, item: null, error: { code: 'CONFLICT' } },
        { id: 'nonsense', item: null, error: { code: 'BAD_USER_INPUT' } },
      ],
    })
    expect(await read(outsider, theirs.id)).toMatchObject({ status: 'OPEN' })
  })

  it('takes 1 to 100, and keys need the scope to write', async () => {
    for (const ids of [[], Array.from({ length: 101 }, () => newId())])
      (await change(owner, 'completeActionItems', { ids }, 'failed')).refused('BAD_USER_INPUT')
    ;(await change(key(of.organizationId, ['launcher:notifications.read']), 'completeActionItems', { ids: [newId()] }, 'failed')).refused('FORBIDDEN')
  })
})

describe('assignActionItem', () => {
  it('names somebody who sees the item, and nobody else', async () => {
    const [forAll, forManagers] = [await seed(), await seed({ audience: 'managers' })]
    const alone = await seedAttention(graph, { organizationId: null, audience: 'person', userId: member.userId! })
    const person = { ...personally(member), scopes: member.scopes }
    expect(await changed(member, 'assignActionItem', { id: forAll.id, assigneeId: viewer.userId })).toMatchObject({
      assignee: { id: viewer.userId },
      version: 2,
    })
    expect(await changed(member, 'assignActionItem', { id: forAll.id, assigneeId: null })).toMatchObject({ assignee: null, version: 3 })
    expect(await changed(person, 'assignActionItem', { id: alone.id, assigneeId: member.userId })).toMatchObject({ assignee: { id: member.userId } })
    for (const [as, id, assigneeId] of [
      [owner, forManagers.id, member.userId],
      [owner, forAll.id, outsider.userId],
      [owner, forAll.id, newId()],
      [person, alone.id, owner.userId],
    ] as const)
      expect((await change(as, 'assignActionItem', { id, assigneeId })).refused('BAD_USER_INPUT').extensions.field).toBe('assigneeId')
    expect(
      (await change(owner, 'assignActionItem', { id: forAll.id, assigneeId: owner.userId, expectedVersion: 1 })).refused('CONFLICT').extensions.reason,
    ).toBe('STALE_VERSION')
  })

  it('ends when the person leaves the organization, or for managers’ items when they are none any more', async () => {
    const [forAll, forManagers] = [await seed(), await seed({ audience: 'managers' })]
    for (const { id } of [forAll, forManagers]) await changed(owner, 'assignActionItem', { id, assigneeId: owner.userId })
    const tell = (kind: 'membership.changed' | 'membership.removed') =>
      graph.platform.launcher.receive!({
        ...{ id: newId(), from: 'identity', kind, subject: `member:${of.organizationId}:${owner.userId}`, at: graph.clock.now() },
        body: { ...of, membershipId: newId(), userId: owner.userId, userKind: 'HUMAN', roles: ['member'] },
      })
    expect(await tell('membership.changed')).toBe('received')
    expect([(await read(owner, forManagers.id)).assignee, (await read(owner, forAll.id)).assignee]).toEqual([null, { id: owner.userId }])
    await tell('membership.removed')
    expect((await read(owner, forAll.id)).assignee).toBeNull()
  })
})

describe('snoozeActionItem', () => {
  it('hides an item from one person until its time, then gives it again to that person alone', async () => {
    const { id } = await seed()
    await using mine = await graph.subscribe('subscription { actionQueueChanged { id status } }', {}, { as: owner })
    await using theirs = await graph.subscribe('subscription { actionQueueChanged { id status } }', {}, { as: member })
    const until = graph.clock.in(12_000).toISOString()
    expect(await changed(owner, 'snoozeActionItem', { id, until })).toMatchObject({ status: 'SNOOZED', snoozedUntil: until, version: 1 })
    expect((await mine.next()).actionQueueChanged).toEqual({ id, status: 'SNOOZED' })
    expect([await listed(owner), await listed(owner, 'status: [SNOOZED]'), await listed(owner, 'status: [OPEN, SNOOZED]')]).toEqual([[], [id], [id]])
    expect([await listed(member), (await read(member, id)).status, (await read(member, id)).snoozedUntil]).toEqual([[id], 'OPEN', null])
    await graph.clock.run(12_001)
    expect((await mine.next()).actionQueueChanged).toEqual({ id, status: 'OPEN' })
    expect([await listed(owner), await listed(owner, 'status: [SNOOZED]')]).toEqual([[id], []])
    expect(theirs.events).toEqual([])
  })

  it('wakes on demand, and when the item closes and opens again', async () => {
    const { id, key } = await seed()
    await changed(owner, 'snoozeActionItem', { id, until: hours(2) })
    expect(await changed(owner, 'snoozeActionItem', { id, until: null })).toMatchObject({ status: 'OPEN', snoozedUntil: null })
    await changed(owner, 'snoozeActionItem', { id, until: hours(2) })
    await seed({ key, title: 'Again' })
    expect((await read(owner, id)).status).toBe('SNOOZED')
    await seedClosed(graph, key)
    await seed({ key })
    expect((await read(owner, id)).status).toBe('OPEN')
    await changed(owner, 'snoozeActionItem', { id, until: hours(2) })
    await changed(member, 'completeActionItem', { id })
    expect(await changed(member, 'reopenActionItem', { id })).toMatchObject({ status: 'OPEN' })
    expect((await read(owner, id)).status).toBe('OPEN')
  })

  it('refuses moments that are past or further than 30 days, items that are done, and the 501st', async () => {
    const { id } = await seed()
    for (const until of [hours(0), hours(-1), graph.clock.in(30 * 86_400_000 + 1).toISOString()])
      expect((await change(owner, 'snoozeActionItem', { id, until })).refused('BAD_USER_INPUT').extensions.field).toBe('until')
    expect(await changed(owner, 'snoozeActionItem', { id, until: graph.clock.in(30 * 86_400_000).toISOString() })).toMatchObject({ status: 'SNOOZED' })
    await graph.rows(
      `insert into launcher.action_items (id, app, key, kind, severity, status, organization_id, audience, subject_id, title, url, opened_at, created_at, updated_at, created_by)
       select gen_random_uuid(), 'agents', 'many:' || n || $1, 'ANY', 'LOW', 'OPEN', $1::uuid, 'organization', 's', 't', 'https://a.test/', $2, $2, $2, 'test' from generate_series(1, 500) n`,
      [of.organizationId, graph.clock.now()],
    )
    await graph.rows(
      `insert into launcher.action_item_snoozes (user_id, item_id, until, updated_at)
       select $1, id, $2, $2 from launcher.action_items where organization_id = $3 and app = 'agents'`,
      [owner.userId, hours(1), of.organizationId],
    )
    const other = await seed()
    expect((await change(owner, 'snoozeActionItem', { id: other.id, until: hours(1) })).refused('CONFLICT').extensions.reason).toBe('LIMIT')
    await changed(member, 'completeActionItem', { id: other.id })
    ;(await change(member, 'snoozeActionItem', { id: other.id, until: hours(1) })).refused('CONFLICT')
    ;(await change(key(of.organizationId, member.scopes as never), 'snoozeActionItem', { id, until: null })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await change(outsider, 'snoozeActionItem', { id, until: hours(1) })).refused('NOT_FOUND')
  })
})
