import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { care } from '../../../../subgraphs/publishing/connection/sweep.ts'
import { deliver } from '../../../../subgraphs/publishing/delivery/deliver.ts'
import { received } from '../../../../subgraphs/publishing/news/received.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { anonymous } from '../../../kit/viewers.ts'
import { seedBrand } from '../brand/seed.ts'
import { seedPost } from '../post/seed.ts'
import { seedConnection } from './seed.ts'

const dayMs = 86_400_000

let graph: Supergraph
beforeAll(async () => {
  graph = await supergraph({ sandbox: true })
})
afterEach(() => graph.x.arm())
afterAll(() => graph[Symbol.asyncDispose]())

const service = (appId: string, organizationId: string): Viewer => ({ ...anonymous, kind: 'service', appId, organizationId, context: 'organization' })
const stored = async ({ id }: { id: string }): Promise<ConnectionRow> =>
  (await inTransaction(graph.job, ({ transaction }) => graph.job.connections.lock(id, transaction)))!
const set = (row: ConnectionRow, changes: Partial<ConnectionRow>): Promise<ConnectionRow> =>
  inTransaction(graph.job, ({ transaction }) => graph.job.connections.update(row, changes, transaction))
/** What managers were told of a connection. */
const facts = ({ id }: { id: string }) =>
  graph.rows<{ kind: string; body: { kind?: string; audience?: string } }>(
    `select kind, body from publishing.facts where kind like 'attention.%' and body->>'key' = $1 order by seq`,
    [`connection:${id}`],
  )

const select =
  'mutation ($input: SelectConnectionTargetsInput!) { selectConnectionTargets(input: $input) { health version targets { externalId selected isDefault } } }'
const check = 'mutation ($input: CheckConnectionInput!) { checkConnection(input: $input) { health accountName lastCheckedAt } }'
const end = 'mutation ($input: DisconnectConnectionInput!) { disconnectConnection(input: $input) { active health inactiveReason } }'
const renew = 'mutation ($input: RenewConnectionInput!) { renewConnection(input: $input) { connectionId platform refreshed accessExpiresAt } }'

const place = (externalId: string, more: object = {}) => ({
  kind: 'PAGE' as const,
  externalId,
  name: externalId,
  available: true,
  reason: null,
  selected: false,
  isDefault: false,
  ...more,
})

describe('selecting the places of a connection', () => {
  test('stores a person’s selection with a default; places that are missing or accept no posts are rejected, and nothing is stored', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const places = [place('1', { selected: true, isDefault: true }), place('2'), place('3', { available: false, reason: 'it is archived' })]
    await set(connection, { targets: places })
    const choose = (input: object) => graph.execute(select, { input: { id: connection.id, ...input } }, { as: owner })
    const named = (externalId: string) => ({ kind: 'PAGE', externalId })
    for (const [input, field] of [
      [{ targets: [named('9')] }, 'targets.0'],
      [{ targets: [named('1'), named('3')] }, 'targets.1'],
      [{ targets: [named('1')], default: named('2') }, 'default'],
    ] as const)
      expect((await choose(input)).error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
    expect((await stored(connection)).targets).toEqual(places)
    const chosen = (await choose({ targets: [named('1'), named('2')], default: named('2'), expectedVersion: connection.version })).data()
      .selectConnectionTargets
    expect(chosen).toEqual({
      health: 'HEALTHY',
      version: connection.version + 1,
      targets: [
        { externalId: '1', selected: true, isDefault: false },
        { externalId: '2', selected: true, isDefault: true },
        { externalId: '3', selected: false, isDefault: false },
      ],
    })
    expect((await choose({ targets: [], expectedVersion: connection.version })).error?.extensions).toMatchObject({ reason: 'STALE_VERSION' })
    const kept = (await choose({ targets: [named('1'), named('2')] })).data().selectConnectionTargets.targets
    expect(kept[1].isDefault, 'what was usual stays so while it is chosen').toBe(true)
    expect((await choose({ targets: [named('1')] })).data().selectConnectionTargets.targets[0].isDefault).toBe(true)
  })
})

describe('a place for which its network accepts no posts any more', () => {
  const create = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }'
  const look = '{ post(id: "ID") { status failure { code category message } problems { code } } }'

  test('fails the post with an access error, and is not offered until the account is checked; health subscribers are notified', async () => {
    const { owner, brand, connection } = await graph.seed.owner().brand().connection({ platform: 'FACEBOOK' })
    const group = { kind: 'GROUP' as const, externalId: '219999999999', name: 'Closed group' }
    const chosen = { ...group, available: true, reason: null, selected: true, isDefault: true }
    await set(connection, { targets: [chosen, ...connection.targets.map(each => ({ ...each, selected: false, isDefault: false }))] })
    const live = await graph.subscribe('subscription { connectionHealthChanged { id health } }', {}, { as: owner })
    const input = { brandId: brand.id, platform: 'FACEBOOK', copy: 'Is anybody there?', target: group, scheduledAt: graph.clock.soon() }
    const { id } = (await graph.execute(create, { input }, { as: owner })).data().createPost
    await graph.clock.advance(60_000)
    await deliver(graph.job, { brandId: brand.id, postId: id })
    const post = (await graph.execute(look.replace('ID', id), {}, { as: owner })).data().post
    expect(post).toMatchObject({ status: 'FAILED', failure: { code: 'TARGET_UNAVAILABLE', category: 'ACCESS' } })
    expect(post.problems.map(({ code }: { code: string }) => code)).toContain('TARGET_UNAVAILABLE')
    const row = await stored(connection)
    expect(row.health).toBe('NEEDS_SELECTION')
    expect(row.targets.find(({ externalId }) => externalId === group.externalId)).toMatchObject({
      available: false,
      selected: true,
      reason: expect.stringMatching(/Facebook/),
    })
    expect(await live.next()).toMatchObject({ connectionHealthChanged: { id: connection.id, health: 'NEEDS_SELECTION' } })
    await live.end()
    const again = (await graph.execute(create, { input: { ...input, copy: 'Still?', scheduledAt: graph.clock.soon() } }, { as: owner })).refused(
      'BAD_USER_INPUT',
    )
    expect(again.extensions.problems).toMatchObject([{ code: 'TARGET_UNAVAILABLE', message: expect.stringMatching(/Closed group/) }])
    const checked = (await graph.execute(check, { input: { id: connection.id } }, { as: owner })).data().checkConnection
    expect(checked.health).toBe('HEALTHY')
    expect((await stored(connection)).targets.map(({ externalId }) => externalId)).not.toContain(group.externalId)
  })

  test.each([
    'prepare',
    'publish',
  ] as const)('is not believed gone by what is said of a later post of a thread when it is to %s: the post before may be', async step => {
    const { owner, brand, connection } = await graph.seed.owner().brand().connection({ platform: 'FACEBOOK' })
    const network = graph.job.networks.get('FACEBOOK')!
    const { prepare, publish } = network
    const gone = async () => ({ outcome: 'refused' as const, code: 'TARGET_UNAVAILABLE' as const, detail: 'it is not there' })
    const input = { brandId: brand.id, platform: 'FACEBOOK', posts: [{ copy: 'First' }, { copy: 'Later' }], scheduledAt: graph.clock.soon() }
    const thread = 'mutation ($input: CreatePostThreadInput!) { createPostThread(input: $input) { posts { id } } }'
    const [first, later] = (await graph.execute(thread, { input }, { as: owner })).data().createPostThread.posts
    await graph.clock.advance(60_000)
    await deliver(graph.job, { brandId: brand.id, postId: first.id })
    Object.assign(network, { [step]: gone })
    await deliver(graph.job, { brandId: brand.id, postId: later.id })
    Object.assign(network, { prepare, publish })
    const statuses = await graph.rows('select status, failure_code from publishing.posts where brand_id = $1 order by position', [brand.id])
    expect(statuses).toMatchObject([{ status: 'PUBLISHED' }, { status: 'FAILED', failure_code: 'TARGET_UNAVAILABLE' }])
    expect((await stored(connection)).targets).toEqual(connection.targets)
  })
})

describe('a person who has left the organization', () => {
  test('leaves connections that still publish, and are listed as those of somebody who left', async () => {
    const { owner, member, brand } = await graph.seed.owner().member().brand()
    const connection = await seedConnection(graph, { brandId: brand.id, owner }, { by: member })
    const post = await seedPost(graph, { brandId: brand.id, owner }, { scheduledAt: graph.clock.in(60_000) })
    const { organizationId, userId } = member
    const removed = { kind: 'membership.removed', body: { organizationId, userId } } as never
    await inTransaction(graph.job, unit => received['membership.removed'](removed, graph.job, unit))
    const listed = '{ connections(orphaned: true) { nodes { id orphaned active } } }'
    expect((await graph.execute(listed, {}, { as: owner })).data().connections.nodes).toEqual([{ id: connection.id, orphaned: true, active: true }])
    await graph.clock.advance(60_000)
    await deliver(graph.job, { brandId: brand.id, postId: post.id })
    expect(await graph.rows('select status, connection_id from publishing.posts where id = $1', [post.id])).toEqual([
      { status: 'PUBLISHED', connection_id: connection.id },
    ])
    expect((await stored(connection)).version).toBe(connection.version + 1)
  })
})

describe('checking a connection', () => {
  test('reads the account from the network, at most six times a minute', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await set(connection, { accountName: '@renamed' })
    const ask = () => graph.execute(check, { input: { id: connection.id } }, { as: owner })
    for (let count = 0; count < 6; count += 1)
      expect((await ask()).data().checkConnection).toMatchObject({ health: 'HEALTHY', accountName: connection.accountName })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
    await graph.clock.advance(60_001)
    expect((await ask()).data().checkConnection.health).toBe('HEALTHY')
  })

  test('writes nothing into a connection that was authorized again while the network was called', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const network = graph.job.networks.get('X')!
    const { account } = network
    const anew = { connectedAt: graph.clock.in(1), accountName: '@anew', lastCheckedAt: null }
    Object.assign(network, {
      async account(...asked: Parameters<typeof account>) {
        await set(connection, anew)
        return account.apply(network, asked)
      },
    })
    const answer = await graph.execute(check, { input: { id: connection.id } }, { as: owner })
    Object.assign(network, { account })
    expect(answer.data().checkConnection.accountName).toBe('@anew')
    expect(await stored(connection)).toMatchObject(anew)
  })

  test('deactivates a connection that its network rejects, and notifies its managers', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await graph.x.arm({ fault: 'grant-revoked' })
    const ask = () => graph.execute(check, { input: { id: connection.id } }, { as: owner })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect(await stored(connection)).toMatchObject({ active: false, health: 'NEEDS_RECONNECT', accessToken: null, refreshToken: null })
    expect((await facts(connection)).map(({ kind, body }) => [kind, body.kind, body.audience])).toEqual([['attention.opened', 'CONNECTION_BROKEN', 'managers']])
    expect((await ask()).error?.extensions).toMatchObject({ reason: 'RECONNECT_NEEDED' })
  })
})

describe('disconnecting', () => {
  test('erases the tokens and needs no further action; repeating it changes nothing', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const disconnect = async () => (await graph.execute(end, { input: { id: connection.id } }, { as: owner })).data().disconnectConnection
    expect(await disconnect()).toMatchObject({ active: false, health: 'NEEDS_RECONNECT', inactiveReason: expect.stringMatching(/connect it again/) })
    const ended = await stored(connection)
    expect([ended.accessToken, ended.refreshToken, ended.placeTokens, ended.tokenExpiresAt]).toEqual([null, null, null, null])
    await disconnect()
    expect((await stored(connection)).version).toBe(ended.version)
    expect(await facts(connection)).toEqual([])
  })

  test('keeps the network’s grant while another brand uses the account, and revokes it with the last one', async () => {
    const { owner, brand } = await graph.seed.owner().brand()
    const other = await seedBrand(graph, { organizationId: owner.organizationId! })
    const seed = ({ id: brandId }: { id: string }) => seedConnection(graph, { brandId, owner }, { externalAccountId: `of ${brand.id}` })
    const [first, last] = [await seed(brand), await seed(other)]
    const network = graph.job.networks.get('X')!
    const { revoke } = network
    const ended: string[] = []
    Object.assign(network, { revoke: async ({ accessToken }: { accessToken: string }) => void ended.push(accessToken) })
    const { accessToken } = graph.job.connections.open(last)
    const endedBy = async ({ id }: ConnectionRow) => {
      ;(await graph.execute(end, { input: { id } }, { as: owner })).data()
      await Promise.all(graph.job.afterRenewals)
      return ended
    }
    expect(await endedBy(first)).toEqual([])
    expect(await endedBy(last)).toEqual([accessToken])
    Object.assign(network, { revoke })
  })

  test('while its token is being renewed: the renewal brings nothing back', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await graph.x.arm({ fault: 'slow-renewal', delayMs: 800 })
    const before = graph.sent.length
    const renewal = graph.execute(renew, { input: { id: connection.id } }, { as: service('app_publishing', owner.organizationId!) })
    await vi.waitFor(() => expect(graph.sent.slice(before)).toContain('POST /x/2/oauth2/token'), 10_000)
    ;(await graph.execute(end, { input: { id: connection.id } }, { as: owner })).data()
    expect((await renewal).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect(await stored(connection)).toMatchObject({ active: false, accessToken: null, refreshToken: null })
  })
})

describe('renewing access', () => {
  test('happens once, however many request it at the same moment, and reports when only a person can help', async () => {
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const as = (appId: string) => service(appId, owner.organizationId!)
    const ask = (appId = 'app_publishing') => graph.execute(renew, { input: { id: connection.id } }, { as: as(appId) })
    expect((await ask('app_agents')).error?.extensions).toMatchObject({ code: 'FORBIDDEN' })
    const before = graph.sent.length
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask()))
    expect(answers.every(answer => answer.data().renewConnection.refreshed)).toBe(true)
    expect(graph.sent.slice(before).filter(each => each.startsWith('POST /x/2/oauth2/token'))).toHaveLength(1)
    expect(answers[0]!.data().renewConnection).toMatchObject({ connectionId: connection.id, platform: 'X', accessExpiresAt: expect.any(String) })
    await graph.x.arm({ fault: 'grant-revoked' })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect((await stored(connection)).health).toBe('NEEDS_RECONNECT')
  })
})

describe('an unused connection', () => {
  test('is reported a week before only a person can renew it, once; an expired one is tried once more and disabled', async () => {
    const { connection } = await graph.seed.owner().brand().connection()
    await set(connection, { reconnectBefore: graph.clock.in(8 * dayMs), tokenExpiresAt: graph.clock.in(60 * dayMs) })
    await care(graph.job)
    expect((await stored(connection)).health).toBe('HEALTHY')
    await graph.clock.advance(dayMs + 1)
    await care(graph.job)
    const told = await stored(connection)
    expect(told).toMatchObject({ health: 'EXPIRING', version: connection.version + 1 })
    await care(graph.job)
    expect((await stored(connection)).version).toBe(told.version)
    await graph.x.arm({ fault: 'grant-revoked' })
    await graph.clock.advance(8 * dayMs)
    await care(graph.job)
    expect(await stored(connection)).toMatchObject({ active: false, health: 'NEEDS_RECONNECT' })
    expect((await facts(connection)).map(({ body }) => body.kind)).toEqual(['CONNECTION_EXPIRING', 'CONNECTION_BROKEN'])
  })
})

test('no answer about connections and networks holds a token, a secret, or the name of a setting', async () => {
  const { owner, brand, connection } = await graph.seed.owner().brand().connection()
  const { accessToken, refreshToken } = graph.job.connections.open(connection)
  const everything = `{ connections { nodes { id accountName scopes inactiveReason targets { name } rateLimit { limit } } }
    integrations(brandId: "${brand.id}") { platform title application readiness connectable reason connected attention connections { id } targets { name }
      capabilities { text thread lookup } limits { copy } } }`
  const shown = JSON.stringify((await graph.execute(everything, {}, { as: owner })).data())
  for (const secret of [accessToken, refreshToken!, graph.x.settings.clientId, graph.x.settings.clientSecret, graph.x.origin])
    expect(shown).not.toContain(secret)
  expect(shown.replaceAll('BY_ID', '')).not.toMatch(/\b[A-Z][A-Z0-9]*_(CLIENT|APP|API|SECRET|KEY|TOKEN|ID|URL)[A-Z_]*\b/)
})
