import { describe, expect, test, vi } from 'vitest'
import { care } from '../../../../subgraphs/publishing/connection/sweep.ts'
import type { ConnectionRow } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { anonymous } from '../../../kit/viewers.ts'

const dayMs = 86_400_000
const service = (appId: string, organizationId: string): Viewer => ({ ...anonymous, kind: 'service', appId, organizationId, context: 'organization' })
const stored = async (graph: Supergraph, { id }: { id: string }): Promise<ConnectionRow> =>
  (await inTransaction(graph.job, ({ transaction }) => graph.job.connections.lock(id, transaction)))!
const set = (graph: Supergraph, row: ConnectionRow, changes: Partial<ConnectionRow>): Promise<ConnectionRow> =>
  inTransaction(graph.job, ({ transaction }) => graph.job.connections.update(row, changes, transaction))
const facts = async (graph: Supergraph): Promise<readonly { kind: string; body: { kind?: string; audience?: string } }[]> =>
  graph.rows(`select kind, body from publishing.facts where kind like 'attention.%' order by id`)

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

describe('the places of a connection', () => {
  test('are chosen by a person, one of them usual; what the account does not have or takes no posts is refused, and nothing is stored', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const places = [place('1', { selected: true, isDefault: true }), place('2'), place('3', { available: false, reason: 'it is archived' })]
    await set(graph, connection, { targets: places })
    const choose = (input: object) => graph.execute(select, { input: { id: connection.id, ...input } }, { as: owner })
    const named = (externalId: string) => ({ kind: 'PAGE', externalId })
    for (const [input, field] of [
      [{ targets: [named('9')] }, 'targets.0'],
      [{ targets: [named('1'), named('3')] }, 'targets.1'],
      [{ targets: [named('1')], default: named('2') }, 'default'],
    ] as const)
      expect((await choose(input)).error?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field })
    expect((await stored(graph, connection)).targets).toEqual(places)
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

describe('a check', () => {
  test('asks the network whose account it is, six times a minute for each connection', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await set(graph, connection, { accountName: '@renamed' })
    const ask = () => graph.execute(check, { input: { id: connection.id } }, { as: owner })
    for (let count = 0; count < 6; count += 1)
      expect((await ask()).data().checkConnection).toMatchObject({ health: 'HEALTHY', accountName: connection.accountName })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 60 })
    await graph.clock.advance(60_001)
    expect((await ask()).data().checkConnection.health).toBe('HEALTHY')
  })

  test('takes a connection out of use that its network takes no more, which its managers hear of', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await graph.x.arm({ fault: 'grant-revoked' })
    const ask = () => graph.execute(check, { input: { id: connection.id } }, { as: owner })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect(await stored(graph, connection)).toMatchObject({ active: false, health: 'NEEDS_RECONNECT', accessToken: null, refreshToken: null })
    expect((await facts(graph)).map(({ kind, body }) => [kind, body.kind, body.audience])).toEqual([['attention.opened', 'CONNECTION_BROKEN', 'managers']])
    expect((await ask()).error?.extensions).toMatchObject({ reason: 'RECONNECT_NEEDED' })
  })
})

describe('a person ends a connection', () => {
  test('and its tokens are nowhere any more; nobody has to see to it; once again changes nothing', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const disconnect = async () => (await graph.execute(end, { input: { id: connection.id } }, { as: owner })).data().disconnectConnection
    expect(await disconnect()).toMatchObject({ active: false, health: 'NEEDS_RECONNECT', inactiveReason: expect.stringMatching(/connect it again/) })
    const ended = await stored(graph, connection)
    expect([ended.accessToken, ended.refreshToken, ended.placeTokens, ended.tokenExpiresAt]).toEqual([null, null, null, null])
    await disconnect()
    expect((await stored(graph, connection)).version).toBe(ended.version)
    expect(await facts(graph)).toEqual([])
  })

  test('while its token is being renewed: the renewal brings nothing back', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    await graph.x.arm({ fault: 'slow-renewal', delayMs: 800 })
    const renewal = graph.execute(renew, { input: { id: connection.id } }, { as: service('app_publishing', owner.organizationId!) })
    await vi.waitFor(() => expect(graph.sent).toContain('POST /x/2/oauth2/token'), 10_000)
    ;(await graph.execute(end, { input: { id: connection.id } }, { as: owner })).data()
    expect((await renewal).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect(await stored(graph, connection)).toMatchObject({ active: false, accessToken: null, refreshToken: null })
  })
})

describe('a renewal', () => {
  test('is for publishing itself: it renews once, however many ask at the same moment, and says when only a person can help', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner, connection } = await graph.seed.owner().brand().connection()
    const as = (appId: string) => service(appId, owner.organizationId!)
    const ask = (appId = 'app_publishing') => graph.execute(renew, { input: { id: connection.id } }, { as: as(appId) })
    expect((await ask('app_agents')).error?.extensions).toMatchObject({ code: 'FORBIDDEN' })
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask()))
    expect(answers.every(answer => answer.data().renewConnection.refreshed)).toBe(true)
    expect(graph.sent.filter(each => each.startsWith('POST /x/2/oauth2/token'))).toHaveLength(1)
    expect(answers[0]!.data().renewConnection).toMatchObject({ connectionId: connection.id, platform: 'X', accessExpiresAt: expect.any(String) })
    await graph.x.arm({ fault: 'grant-revoked' })
    expect((await ask()).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'RECONNECT_NEEDED' })
    expect((await stored(graph, connection)).health).toBe('NEEDS_RECONNECT')
  })
})

describe('a connection that nobody uses', () => {
  test('is told of a week before only a person can renew it, once; what is over is asked for once more and taken out of use', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { connection } = await graph.seed.owner().brand().connection()
    await set(graph, connection, { reconnectBefore: graph.clock.in(8 * dayMs), tokenExpiresAt: graph.clock.in(60 * dayMs) })
    await care(graph.job)
    expect((await stored(graph, connection)).health).toBe('HEALTHY')
    await graph.clock.advance(dayMs + 1)
    await care(graph.job)
    const told = await stored(graph, connection)
    expect(told).toMatchObject({ health: 'EXPIRING', version: connection.version + 1 })
    await care(graph.job)
    expect((await stored(graph, connection)).version).toBe(told.version)
    await graph.x.arm({ fault: 'grant-revoked' })
    await graph.clock.advance(8 * dayMs)
    await care(graph.job)
    expect(await stored(graph, connection)).toMatchObject({ active: false, health: 'NEEDS_RECONNECT' })
    expect((await facts(graph)).map(({ body }) => body.kind)).toEqual(['CONNECTION_EXPIRING', 'CONNECTION_BROKEN'])
  })
})

test('no answer about connections and networks holds a token, a secret, or the name of a setting', async () => {
  await using graph = await supergraph({ sandbox: true })
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
