import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { OAuth2Server } from 'oauth2-mock-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { modelOf } from '../../platform/sql/table.ts'
import { type Provisioned, provision } from '../../subgraphs/identity/setup/provision.ts'
import { brands } from '../../subgraphs/publishing/stores/brand.ts'
import { askAt, signIn } from '../kit/client.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { type Credentials, openStreams, tryEveryDoor } from '../kit/every-door.ts'
import { identityOf } from '../kit/identity.ts'
import { until } from '../kit/launch.ts'
import { type Processes, startProcesses } from '../kit/processes.ts'

const password = 'a password of this test'
const [owner, member, stranger] = ['owner@callers.test', 'member@callers.test', 'stranger@callers.test']
const world = {
  password,
  people: [owner, member, stranger].map(email => ({ email, name: email })),
  organizations: [
    {
      slug: 'callers',
      name: 'Callers',
      members: [
        { email: owner, roles: ['owner'] as const },
        { email: member, roles: ['member'] as const },
      ],
    },
    { slug: 'elsewhere', name: 'Elsewhere', members: [{ email: stranger, roles: ['owner'] as const }] },
  ],
  keys: [],
}

/** A database with the world in it, and a brand. */
async function openWorld(): Promise<{ database: TestDatabase; made: Provisioned; brandId: string }> {
  const database = await createTestDatabase()
  const made = await provision(identityOf(database.sequelize, systemClock), world)
  const now = systemClock.now()
  const brandId = newId(now)
  const by = { createdAt: now, updatedAt: now, createdBy: `user:${made.users[owner]}` }
  await modelOf(database.sequelize, brands).create({ id: brandId, organizationId: made.organizations.callers, name: 'Brand', ...by })
  return { database, made, brandId }
}

const who = '{ viewer { kind appId roles scopes user { id name } organization { id } } }'
const withAddress = '{ viewer { kind roles user { id name email } organization { id } } }'
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
const viewerAt = async (at: string, headers: Credentials, query = who): Promise<any> => (await askAt(at, query, {}, headers)).data().viewer
/** What the graph and a row of REST answer: answers, and the reason of the latter. */
async function answersAt(at: string, headers: Credentials) {
  const body = JSON.stringify({ query: who })
  const graph = await fetch(`${at}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const rest = await fetch(`${at}/publishing/api/widget`, { headers })
  const { reason } = (await rest.json()) as { reason?: string }
  return [graph.status, rest.status, ...(reason ? [reason] : [])]
}

describe('services and keys, over every protocol', () => {
  const [launcher, settlement] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
  const opened = new AsyncDisposableStack()
  let made: Provisioned
  let platform: Processes
  beforeAll(async () => {
    const { database, ...rest } = await openWorld()
    opened.use(database)
    made = rest.made
    const environment = { APP_SERVICE_TOKENS: `app_launcher:${launcher}`, SETTLEMENT_PAYMENTS_SERVICE_TOKEN: settlement }
    platform = opened.use(await startProcesses(database.url, { services: ['identity', 'publishing'], environment }))
  }, 120_000)
  afterAll(() => opened.disposeAsync())

  const everywhere = async <Answer>(ask: (at: string) => Promise<Answer>): Promise<Answer> => {
    const [first, ...others] = await Promise.all(platform.routers.map(ask))
    for (const other of others) expect(other).toEqual(first)
    return first!
  }

  test('G-10 a service is its app, in the organization and on behalf of the person that it names, with the rights of both', async () => {
    const app = { 'x-service-token': launcher, 'x-app-id': 'app_launcher' }
    const here = { 'x-organization-id': made.organizations.callers! }
    const scopes = ['agents:workspace.read', 'payments:dashboard.read', 'providers:service.invoke', 'providers:usage.read', 'publishing:dashboard.read']
    const bare = { kind: 'SERVICE', appId: 'app_launcher', roles: [], scopes, user: null, organization: null }
    const viewer = (headers: Credentials) => everywhere(at => viewerAt(at, headers))
    expect(await viewer(app)).toEqual(bare)
    expect(await viewer({ ...app, ...here })).toEqual({ ...bare, organization: { id: made.organizations.callers } })
    const behalf = await viewer({ ...app, ...here, 'x-on-behalf-of': made.users[member]! })
    expect(behalf).toMatchObject({ kind: 'SERVICE', roles: [], user: { id: made.users[member] }, organization: { id: made.organizations.callers } })
    expect(scopes).toEqual(expect.arrayContaining(behalf.scopes))
    const settles = { 'x-service-token': settlement, 'x-app-id': 'app_settlement', ...here }
    expect((await viewer(settles)).scopes).toEqual(['payments:settlements.write'])

    const answers = (headers: Credentials) => everywhere(at => answersAt(at, headers))
    expect(await answers({ ...app, ...here })).toEqual([200, 200])
    expect(await answers(app)).toEqual([200, 400])
    expect(await answers(settles)).toEqual([200, 403])
    expect(await answers({ 'x-service-token': launcher })).toEqual([401, 401])
    expect(await answers({ ...app, 'x-app-id': 'app_publishing' })).toEqual([401, 401])
    expect(await answers({ ...app, 'x-service-token': `${launcher.slice(0, -1)}.` })).toEqual([401, 401])
    expect(await answers({ ...app, 'x-organization-id': newId(new Date()) })).toEqual([404, 404])
    expect(await answers({ ...app, ...here, 'x-on-behalf-of': made.users[stranger]! })).toEqual([403, 403, 'DELEGATION'])
  })

  test('a key is used up to its limit, and at most a tenth more, over all routers and the workers of one together', async () => {
    const [limit, together] = [100, 4]
    const { query } = await signIn(platform.url, owner, password)
    const key = async (): Promise<Credentials> => {
      const input = { name: 'counted', scopes: ['publishing:dashboard.read'], rateLimit: limit }
      const { createApiKey } = await query<{ createApiKey: { secret: string } }>(
        'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
        { input },
      )
      return { 'x-api-key': createApiKey.secret }
    }
    const workers = await platform.startWorkers(2)
    const askFrom = (at: string, headers: Credentials) => async () => {
      const answer = await fetch(`${at}/publishing/api/widget`, { headers })
      if (answer.status === 200) return 'answered'
      const { status, detail } = (await answer.json()) as { status: number; detail: string }
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      return `${status} ${detail}`
    }
    /** As many as there may be at each place, a few at once: more would be too much of one caller. Then now and then for two seconds more. */
    const storm = async (places: readonly string[]) => {
      const headers = await key()
      const asks = places.map(at => askFrom(at, headers))
      const answers: string[] = []
      const askInTurn = async (ask: () => Promise<string>) => {
        for (let turn = 0; turn < limit / together; turn++) answers.push(await ask())
      }
      await Promise.all(asks.flatMap(ask => Array.from({ length: together }, () => askInTurn(ask))))
      for (let turn = 0; turn < 10; turn++) {
        await wait(200)
        answers.push(...(await Promise.all(asks.map(ask => ask()))))
      }
      expect(new Set(answers)).toEqual(new Set(['answered', expect.stringContaining('429 This API key may be used for 100 requests a minute')]))
      return answers.filter(status => status === 'answered').length
    }
    for (const places of [platform.routers, ...(workers ? [[workers], [...platform.routers, workers]] : [])]) {
      const passed = await storm(places)
      expect(passed).toBeGreaterThanOrEqual(limit)
      expect(passed).toBeLessThanOrEqual(workers ? limit * 1.1 : limit)
    }
  })
})

describe('people of another issuer, over every protocol', () => {
  const opened = new AsyncDisposableStack()
  const login = new OAuth2Server()
  let made: Provisioned
  let platform: Processes
  let database: TestDatabase
  let brandId: string

  const bearer = async (sub: string | undefined, more: Record<string, unknown> = {}): Promise<{ authorization: string }> => {
    const token = await login.issuer.buildToken({ scopesOrTransform: (_header, payload) => Object.assign(payload, { sub, aud: 'supergraph', ...more }) })
    return { authorization: `Bearer ${token}` }
  }

  beforeAll(async () => {
    ;({ database, made, brandId } = await openWorld())
    opened.use(database)
    await login.issuer.keys.generate('RS256')
    await login.start(0, '127.0.0.1')
    opened.defer(() => login.stop())
    const issuer = login.issuer.url!
    // A person who has signed in before.
    for (const [subject, email] of [
      ['olga', owner],
      ['max', member],
    ] as const)
      await database.sequelize.query(
        `insert into identity.foreign_people (issuer, subject, user_id, created_at) values ('${issuer}', '${subject}', '${made.users[email]}', now())`,
      )
    const environment = { AUTH_ISSUER: issuer, AUTH_JWKS_URL: `${issuer}/jwks` }
    platform = opened.use(await startProcesses(database.url, { services: ['identity', 'publishing'], environment }))
  }, 120_000)
  afterAll(() => opened.disposeAsync())

  const each = <Answer>(ask: (at: string) => Promise<Answer>): Promise<Answer[]> => Promise.all(platform.routers.map(ask))
  const allSay = async (headers: Credentials, expected: unknown[]) => {
    for (const said of await each(at => answersAt(at, headers))) expect(said).toEqual(expected)
  }

  test('I-05 a person is created at the first sign-in, once over all routers, with the address only if the issuer has verified it', async () => {
    const ada = await bearer('ada', { name: 'Ada', email: 'Ada@Example.test', email_verified: true })
    const seen = (await each(at => Promise.all(Array.from({ length: 10 }, () => viewerAt(at, ada, withAddress))))).flat()
    expect(new Set(seen.map(({ user }) => user.id)).size).toBe(1)
    expect(seen[0]).toMatchObject({ kind: 'USER', roles: [], organization: null, user: { name: 'Ada', email: 'ada@example.test' } })
    const bob = await bearer('bob', { email: 'bob@example.test' })
    for (const { user } of await each(at => viewerAt(at, bob, withAddress))) expect(user).toMatchObject({ name: 'Unnamed', email: null })
  })

  test('I-05 the active organization is the header’s, if the person is a member', async () => {
    const olga = await bearer('olga')
    const here = { 'x-organization-id': made.organizations.callers! }
    for (const viewer of await each(at => viewerAt(at, { ...olga, ...here })))
      expect(viewer).toMatchObject({ roles: ['OWNER'], organization: { id: made.organizations.callers }, user: { id: made.users[owner] } })
    for (const viewer of await each(at => viewerAt(at, olga))) expect(viewer).toMatchObject({ roles: [], organization: null })
    await allSay({ ...olga, ...here }, [200, 200])
    await allSay({ ...olga, 'x-organization-id': made.organizations.elsewhere! }, [403, 403])
  })

  test('rejects a token for another audience, of another issuer, expired or without a subject', async () => {
    const wrong = [{ aud: 'elsewhere' }, { iss: 'https://elsewhere.example' }, { sub: undefined }, { exp: 1_700_000_000 }, { exp: undefined }]
    for (const claims of wrong) await allSay(await bearer('mallory', claims), [401, 401])
    const [header, payload, signature] = (await bearer('ada')).authorization.split('.') as [string, string, string]
    const said = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'mallory' }
    await allSay({ authorization: `${header}.${Buffer.from(JSON.stringify(said)).toString('base64url')}.${signature}` }, [401, 401])
  })

  test('sign-in routes are the issuer’s', async () => {
    for (const at of platform.routers) {
      const signing = await fetch(`${at}/identity/api/auth/sign-in/email`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: owner, password }),
      })
      expect([signing.status, ((await signing.json()) as { reason: string }).reason]).toEqual([409, 'EXTERNAL_ISSUER'])
      const keys = await fetch(`${at}/identity/api/auth/jwks`, { redirect: 'manual' })
      expect([keys.status, keys.headers.get('location')]).toEqual([307, `${login.issuer.url}/jwks`])
      const answer = await askAt(at, 'mutation { switchContext(input: { context: PERSONAL }) { accessToken } }', {}, await bearer('olga'))
      expect(answer.error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'EXTERNAL_ISSUER' })
    }
  })

  test.each([
    ['leaves the organization', 'olga', (id: string) => `delete from identity.memberships where user_id = '${id}'`],
    ['is suspended', 'max', (id: string) => `update identity.users set suspended_at = now() where id = '${id}'`],
  ] as const)('who %s is refused at every door of every router within two seconds, and hears nothing more', async (_what, subject, end) => {
    const headers = { ...(await bearer(subject)), 'x-organization-id': made.organizations.callers! }
    const tried = { query: '{ posts(first: 1) { nodes { id } } }', path: '/publishing/api/posts', asPerson: false }
    const says = async () => (await each(at => tryEveryDoor(at, headers, tried))).flatMap(doors => Object.values(doors))
    expect(new Set(await says())).toEqual(new Set([null]))
    const streams = await each(at => openStreams(at, headers, `subscription { postStatusChanged(brandId: "${brandId}") { id } }`))
    try {
      await database.sequelize.query(end(made.users[subject === 'olga' ? owner : member]!))
      const ended = Promise.race([Promise.all(streams.map(stream => stream.ended)), wait(2000)])
      await until('every door refuses', async () => !(await says()).includes(null), 2)
      expect(await ended).toEqual(platform.routers.map(() => ({ code: 4403, reason: 'rights changed' })))
    } finally {
      for (const stream of streams) stream.leave()
    }
  })
})
