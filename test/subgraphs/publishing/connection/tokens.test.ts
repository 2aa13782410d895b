import { expect, test, vi } from 'vitest'
import { renewalMs, renewalPace } from '../../../../subgraphs/publishing/connection/rules.ts'
import { type TokensNeed, tokenSoon, usableToken } from '../../../../subgraphs/publishing/connection/tokens.ts'
import type { GrantTokens } from '../../../../subgraphs/publishing/network/network.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { renewals, stored, storedConnection, texts, twoHours, wake } from '../delivery/delivering.ts'
import { brand as brandDocument } from '../documents.ts'

/** Posts whose time comes when the token has run out. */
const begin = async (count: number) => {
  const graph = await supergraph({ sandbox: true })
  const seeded = await graph.seed
    .owner()
    .brand()
    .connection()
    .posts(count, { scheduledAt: graph.clock.in(twoHours) })
  await graph.clock.advance(twoHours)
  return { graph, ...seeded }
}

const revoke = async ({ x }: Supergraph, token: string) => {
  const authorization = `Basic ${Buffer.from(`${x.settings.clientId}:${x.settings.clientSecret}`).toString('base64')}`
  const answer = await fetch(`${x.settings.apiUrl}/2/oauth2/revoke`, { method: 'POST', headers: { authorization }, body: new URLSearchParams({ token }) })
  expect(answer.status).toBe(200)
}

/** The same work with something else of its own, as another process or another pace would have. */
const variant = (graph: Supergraph, own: Partial<TokensNeed>): TokensNeed =>
  Object.create(graph.job, Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value }])))

test('an expired token is renewed before use, and the new pair is stored', async () => {
  const { graph, posts, connection } = await begin(1)
  await using _ = graph
  const before = graph.job.connections.open(connection)
  await wake(graph, posts[0]!)
  const row = await storedConnection(graph, connection)
  const after = graph.job.connections.open(row)
  expect([await texts(graph), renewals(graph)]).toEqual([[posts[0]!.copy], 1])
  expect([after.accessToken === before.accessToken, after.refreshToken === before.refreshToken]).toEqual([false, false])
  expect(row.tokenExpiresAt).toEqual(graph.clock.in(twoHours))
})

test('P-10 many attempts at once renew it once, and the family of tokens lives on', async () => {
  const { graph, posts } = await begin(4)
  await using _ = graph
  await Promise.all(posts.map(post => wake(graph, post)))
  expect((await texts(graph)).sort()).toEqual(posts.map(({ copy }) => copy).sort())
  expect(renewals(graph)).toBe(1)
})

test('many requests whose token was rejected renew it once, and all get the new one', async () => {
  const graph = await supergraph({ sandbox: true })
  await using _ = graph
  const { connection } = await graph.seed.owner().brand().connection()
  const { accessToken: refused } = graph.job.connections.open(connection)
  const x = graph.job.networks.get('X')!
  const tokens = await Promise.all([1, 2, 3].map(() => usableToken(graph.job, x, connection, refused)))
  expect([new Set(tokens).size, tokens.includes(refused), renewals(graph)]).toEqual([1, false, 1])
})

test('a renewal without a new refresh token keeps the old one', async () => {
  const graph = await supergraph()
  await using _ = graph
  const { connection } = await graph.seed.owner().brand().connection()
  const { refreshToken } = graph.job.connections.open(connection)
  for (const empty of [null, '']) {
    const grant = { accessToken: `new ${empty}`, refreshToken: empty, expiresIn: 7200, scopes: [] }
    await inTransaction(graph.job, ({ transaction }) =>
      graph.job.connections.update(connection, graph.job.connections.sealed(connection.id, grant, graph.clock.now()), transaction),
    )
    expect(graph.job.connections.open(await storedConnection(graph, connection))).toEqual({ accessToken: `new ${empty}`, refreshToken, placeTokens: {} })
  }
})

test('P-11 a grant that X has ended deactivates the connection, erases its tokens, and says what to do', async () => {
  const { graph, owner, brand, posts, connection } = await begin(2)
  await using _ = graph
  await revoke(graph, graph.job.connections.open(connection).refreshToken!)
  await wake(graph, posts[0]!)
  expect(await stored(graph, posts[0]!)).toMatchObject({ status: 'FAILED', failureCode: 'CONNECTION_EXPIRED', attempts: 1 })
  expect(await storedConnection(graph, connection)).toMatchObject({ active: false, accessToken: null, refreshToken: null, tokenExpiresAt: null })
  const [shown] = (await graph.execute(brandDocument, { id: brand.id }, { as: owner })).data().brand.connections
  expect(shown).toMatchObject({ active: false, inactiveReason: expect.stringContaining('connect the account again') })
  expect(await graph.rows(`select actor, subject_id from publishing.audit_entries where action = 'connection.deactivated'`)).toEqual([
    { actor: 'delivery', subject_id: connection.id },
  ])
  await wake(graph, posts[1]!)
  expect(await stored(graph, posts[1]!)).toMatchObject({ status: 'FAILED', failureCode: 'NO_CONNECTION' })
  expect(await texts(graph)).toEqual([])
})

test('a network that cannot be reached for a renewal leaves the connection as it is', async () => {
  const { graph, posts, connection } = await begin(1)
  await using _ = graph
  await graph.x[Symbol.asyncDispose]()
  await wake(graph, posts[0]!)
  expect(await stored(graph, posts[0]!)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', failureCode: null, waitsUntil: expect.any(Date) })
  const { updatedAt: _now, ...row } = await storedConnection(graph, connection)
  expect(row).toMatchObject({ active: true, accessToken: connection.accessToken, refreshToken: connection.refreshToken })
})

test('a network with lifetimes shorter than the renewal margin is asked for one token, not endlessly', async () => {
  const { graph, posts } = await begin(1)
  await using _ = graph
  const x = graph.job.networks.get('X')!
  const { refresh } = x
  Object.assign(x, { refresh: async (tokens: GrantTokens) => ({ ...(await refresh(tokens)), expiresIn: 30 }) })
  await wake(graph, posts[0]!)
  expect([await texts(graph), renewals(graph)]).toEqual([[posts[0]!.copy], 1])
})

test('a valid token is returned without a network call', async () => {
  const graph = await supergraph({ sandbox: true })
  await using _ = graph
  const { connection } = await graph.seed.owner().brand().connection()
  const statements = await graph.statements(async () =>
    expect(await usableToken(graph.job, graph.job.networks.get('X')!, connection)).toBe(graph.job.connections.open(connection).accessToken),
  )
  expect([statements, graph.sent]).toEqual([[], []])
})

/** Begins a renewal that takes the network some seconds, and comes back while it is thinking. */
async function slowRenewal(graph: Supergraph, connection: Parameters<typeof usableToken>[2], need: TokensNeed = graph.job) {
  const { accessToken: refused } = graph.job.connections.open(connection)
  await graph.x.arm({ fault: 'slow-renewal', delayMs: 3_000 })
  const renewal = usableToken(need, graph.job.networks.get('X')!, connection, refused)
  renewal.catch(() => {})
  await vi.waitFor(() => expect(graph.sent).toContain('POST /x/2/oauth2/token'), 10_000)
  return { refused, renewal }
}

test('nothing is locked during a renewal: connecting the account again is not delayed, and wins', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, brand, connection } = await graph.seed.owner().brand().connection()
  const { refused, renewal } = await slowRenewal(graph, connection)
  const grant = { accessToken: 'of the new authorization', refreshToken: 'its refresh token', expiresIn: 7200, scopes: [] }
  const account = { externalId: connection.externalAccountId, name: connection.accountName }
  await inTransaction(graph.job, async ({ transaction }) => {
    await graph.database.sequelize.query('select from publishing.connections for update nowait', { transaction })
    await graph.job.connections.authorize({ brandId: brand.id, platform: 'X', userId: owner.userId!, account, grant, now: graph.clock.now() }, transaction)
  })
  expect(await renewal).toBe(grant.accessToken)
  expect(graph.job.connections.open(await storedConnection(graph, connection))).toEqual({
    accessToken: grant.accessToken,
    refreshToken: grant.refreshToken,
    placeTokens: {},
  })
  expect(refused).not.toBe(grant.accessToken)
})

test('another process’s renewal is awaited, and a dead process’s renewal is taken over', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { connection } = await graph.seed.owner().brand().connection()
  const x = graph.job.networks.get('X')!
  const { refused, renewal } = await slowRenewal(graph, connection)
  const elsewhere = variant(graph, { renewals: new Map() })
  const token = await usableToken(elsewhere, x, connection, refused)
  expect([token, renewals(graph)]).toEqual([await renewal, 1])
  const dead = (until: Date) => graph.rows('update publishing.connections set renewal_id = $1, renewal_until = $2', [connection.id, until])
  for (const until of [graph.clock.now(), graph.clock.in(renewalMs + 1)]) {
    await dead(until)
    const before = renewals(graph)
    const present = graph.job.connections.open(await storedConnection(graph, connection)).accessToken
    expect(await usableToken(graph.job, x, connection, present)).not.toBe(present)
    expect(renewals(graph)).toBe(before + 1)
  }
})

test('a long renewal is awaited while its worker sends heartbeats, and updates no other column of the connection', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { connection } = await graph.seed.owner().brand().connection()
  const pace = { beatMs: 100, silentMs: 1_000, lookEveryMs: 50 }
  const { refused, renewal } = await slowRenewal(graph, connection, variant(graph, { pace }))
  const first = await storedConnection(graph, connection)
  const token = usableToken(variant(graph, { renewals: new Map(), pace }), graph.job.networks.get('X')!, connection, refused)
  await vi.waitFor(async () => expect((await storedConnection(graph, connection)).renewalBeats).toBeGreaterThan(first.renewalBeats + 2), 10_000)
  expect({ ...(await storedConnection(graph, connection)), renewalBeats: 0 }).toEqual({ ...first, renewalBeats: 0 })
  expect([await token, renewals(graph)]).toEqual([await renewal, 1])
  expect(await storedConnection(graph, connection)).toMatchObject({ renewalId: null, renewalUntil: null, renewalBeats: 0 })
})

test('a worker without heartbeats is replaced long before its claim ends', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { connection } = await graph.seed.owner().brand().connection()
  await graph.rows('update publishing.connections set renewal_id = $1, renewal_until = $2, renewal_beats = 1', [connection.id, graph.clock.in(renewalMs)])
  const { accessToken: refused } = graph.job.connections.open(connection)
  const x = graph.job.networks.get('X')!
  const token = await tokenSoon(variant(graph, { pace: { ...renewalPace, silentMs: 500 } }), x, connection, refused)
  expect([token === refused, renewals(graph)]).toEqual([false, 1])
})

test('the holder of a post waits briefly for a slow renewal, which continues: its token is there for the next attempt', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { connection } = await graph.seed.owner().brand().connection()
  const { accessToken: refused } = graph.job.connections.open(connection)
  const x = graph.job.networks.get('X')!
  const { refresh } = x
  const slow = Promise.withResolvers<void>()
  Object.assign(x, { refresh: (tokens: GrantTokens) => slow.promise.then(() => refresh(tokens)) })
  await expect(tokenSoon(graph.job, x, connection, refused, 1)).rejects.toMatchObject({ name: 'GrantFailure', permanent: false })
  slow.resolve()
  const token = await tokenSoon(graph.job, x, connection, refused)
  expect([token, renewals(graph)]).toEqual([graph.job.connections.open(await storedConnection(graph, connection)).accessToken, 1])
})

test('after a failed renewal nobody waits for it', async () => {
  const { graph, connection } = await begin(1)
  await using _ = graph
  await graph.x[Symbol.asyncDispose]()
  await expect(usableToken(graph.job, graph.job.networks.get('X')!, connection)).rejects.toThrow('could not be asked')
  expect(await storedConnection(graph, connection)).toMatchObject({ active: true, renewalId: null, renewalUntil: null })
  expect(graph.job.renewals.size).toBe(0)
})

test('a token can be decrypted in its own row and column only', async () => {
  const graph = await supergraph()
  await using _ = graph
  const story = graph.seed.owner().brand()
  const { connection: one } = await story.connection({ externalAccountId: '1' })
  const { connection: other } = await story.connection({ externalAccountId: '2' })
  const { connections } = graph.job
  for (const moved of [
    { accessToken: other.accessToken },
    { refreshToken: other.refreshToken },
    { accessToken: one.refreshToken },
    { refreshToken: one.accessToken },
  ])
    expect(() => connections.open({ ...one, ...moved }), JSON.stringify(Object.keys(moved))).toThrow(/cannot read the stored access/)
  expect(connections.open(one)).toEqual({ accessToken: 'access of 1', placeTokens: {}, refreshToken: 'refresh of 1' })
})
