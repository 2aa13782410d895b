import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createBoundClock, systemClock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { modelOf } from '../../platform/sql/table.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { type ListedSlug, listedSlugs } from '../../router/start/registry.ts'
import { provision } from '../../subgraphs/identity/setup/provision.ts'
import { registration as launcher } from '../../subgraphs/launcher/registration.ts'
import { brands } from '../../subgraphs/publishing/stores/brand.ts'
import { forAsk, forForward, forOperation, type Purpose, sealHeader } from '../../subgraphs/seal.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { identityOf } from '../kit/identity.ts'
import { freePort, type Launched, launch, until } from '../kit/launch.ts'
import { payFor } from '../kit/paid.ts'
import { person } from '../kit/viewers.ts'

const key = { id: 'test', key: randomBytes(32) }
const password = 'a password of this test'
const email = 'owner@apart.test'
const world = {
  password,
  people: [
    { email, name: 'Olivia' },
    { email: 'mia@apart.test', name: 'Mia' },
  ],
  organizations: [
    {
      slug: 'apart',
      name: 'Apart',
      members: [
        { email, roles: ['owner'] as const },
        { email: 'mia@apart.test', roles: ['member'] as const },
      ],
    },
  ],
  keys: [{ organization: 'apart', name: 'reads posts', scopes: ['publishing:posts.read'] as const, createdBy: email }],
}

let database: TestDatabase
let platform: Awaited<ReturnType<typeof startApart>>
let bearer: string
let brandId: string
let apiKey: string
let ids: { readonly userId: string; readonly organizationId: string }

/** Starts every subgraph and the router, each as a process of its own. */
async function startApart(databaseUrl: string) {
  const [port, ...ports] = await Promise.all([freePort(), ...listedSlugs.map(() => freePort())])
  const url = `http://localhost:${port}`
  const environment = {
    DATABASE_URL: databaseUrl,
    PUBLIC_URL: url,
    LOG_LEVEL: 'fatal',
    AUTH_SECRET: randomBytes(32).toString('hex'),
    // X is not running: a call that gets that far fails to connect.
    X_CLIENT_ID: 'application',
    X_CLIENT_SECRET: 'secret',
    X_API_URL: 'http://127.0.0.1:9',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    // During a rotation the old key is listed beside the new one.
    SEAL_PUBLIC_KEYS: [{ id: 'old', key: randomBytes(32) }, publicHalf(key)].map(({ id, key: half }) => `${id}:${half.toString('base64')}`).join(),
  }
  const urls = Object.fromEntries(listedSlugs.map((slug, index) => [slug, `http://localhost:${ports[index]}`])) as Record<ListedSlug, string>
  const run = (words: string[], more: Record<string, string>) =>
    launch(process.execPath, ['router/main.ts', ...words], { ...more, npm_lifecycle_event: 'test' })
  const places = Object.fromEntries(listedSlugs.map(slug => [`${slug.toUpperCase()}_URL`, `${urls[slug]}/graphql`]))
  const subgraph = (slug: ListedSlug) => run(['subgraph', slug, '--port', new URL(urls[slug]).port], { ...environment, ...places })
  const processes = Object.fromEntries(listedSlugs.map(slug => [slug, subgraph(slug)])) as Record<ListedSlug, Launched>
  const router = run(['router', '--port', String(port)], {
    PUBLIC_URL: url,
    LOG_LEVEL: 'fatal',
    SEAL_PRIVATE_KEY: `${key.id}:${key.key.toString('base64')}`,
    FETCH_TIMEOUT_MS: '3000',
    ...places,
  })
  await Promise.all([...Object.values(processes), router].map(each => each.printed(/ready in .* s: /)))
  return {
    url,
    urls,
    processes,
    restart(slug: ListedSlug) {
      processes[slug] = subgraph(slug)
      return processes[slug].printed(/ready in .* s: /)
    },
    async stop() {
      for (const { child } of [...Object.values(processes), router]) child.kill('SIGTERM')
      return Promise.all([...Object.values(processes), router].map(({ ended }) => ended))
    },
  }
}

beforeAll(async () => {
  database = await createTestDatabase()
  const now = systemClock.now()
  const { users, organizations, keys } = await provision(identityOf(database.sequelize, systemClock), world)
  ids = { userId: users[email]!, organizationId: organizations.apart! }
  apiKey = keys['reads posts']!.secret!
  await payFor(database.sequelize, ids.organizationId, now)
  brandId = newId(now)
  const brand = { id: brandId, organizationId: ids.organizationId, name: 'Brand', createdAt: now, updatedAt: now, createdBy: `user:${ids.userId}` }
  await modelOf(database.sequelize, brands).create(brand)
  platform = await startApart(database.url)
  bearer = `Bearer ${(await post('/identity/api/auth/sign-in/email', { email, password })).json.accessToken}`
}, 90_000)
afterAll(async () => {
  await platform?.stop()
  await database?.drop()
})

async function post(path: string, body: unknown, headers: Record<string, string> = {}, origin = platform.url) {
  const response = await fetch(origin + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  const text = await response.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  return { status: response.status, headers: response.headers, json: JSON.parse(text || 'null') as any }
}
const gql = async (query: string, variables = {}, headers: Record<string, string> = { authorization: bearer }) =>
  (await post('/graphql', { query, variables }, headers)).json

const everything = `{ viewer { kind user { name } organization { name brands { nodes { id name } } } }
  posts(first: 5) { nodes { copy author { name } brand { name organization { name } } } }
  widgets { app payload { statistics { key value } } } }`

/** Begins a connection. @returns what the network would send the person back to, and what is answered there */
const connect = async (headers: Record<string, string>) => {
  const answer = await fetch(`${platform.url}/publishing/api/integrations/x/connect`, {
    method: 'POST',
    headers: { authorization: bearer, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ brandId }),
  })
  const { authorizationUrl } = (await answer.json()) as { authorizationUrl: string }
  const back = `${platform.url}/publishing/api/integrations/x/callback?code=c&state=${new URL(authorizationUrl).searchParams.get('state')}`
  const cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
  const open = async (kept: string) => {
    const page = await fetch(back, { headers: { accept: 'text/html', ...(kept && { cookie: kept }) } })
    return [page.status, await page.text()]
  }
  return { cookie, back, open }
}

test('a connection that was begun in a browser completes in that browser only, and one that a program began names its brand', async () => {
  const inBrowser = await connect({ origin: platform.url })
  expect(await inBrowser.open('')).toEqual([400, expect.stringContaining('another browser')])
  expect(await inBrowser.open(inBrowser.cookie)).toEqual([502, expect.stringContaining('load this page again')])
  const byProgram = await connect({ 'x-browser-fingerprint': '0'.repeat(64) })
  expect(await byProgram.open('')).toEqual([200, expect.stringContaining('of the organization “<bdi>Apart</bdi>”')])
  // Confirmed on the same host, the flow gets as far as calling X.
  const page = await fetch(byProgram.back, { headers: { accept: 'text/html' } })
  const fields = [...(await page.text()).matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])
  const cookie = page.headers.getSetCookie()[0]!.split(';', 1)[0]!
  const confirmed = await fetch(byProgram.back, { method: 'POST', headers: { cookie }, body: new URLSearchParams(fields) })
  expect([confirmed.status, await confirmed.text()]).toEqual([502, expect.stringContaining('load this page again')])
})

test('makes no connection for a person who has lost the right meanwhile: publishing checks with identity through the router', async () => {
  const begun = await connect({ origin: platform.url })
  const give = (roles: string) => database.sequelize.query(`update identity.memberships set roles = '{${roles}}' where user_id = '${ids.userId}'`)
  await give('member')
  const answer = await begun.open(begun.cookie)
  await give('owner')
  expect(answer).toEqual([403, expect.stringContaining('no longer manages')])
})

test('S-03 D3 one query crosses three subgraphs, each in a process of its own', async () => {
  const made = await gql('mutation ($input: CreatePostInput!) { createPost(input: $input) { id status version author { name } } }', {
    input: { brandId, platform: 'X', copy: 'Written apart' },
  })
  expect(made).toMatchObject({ data: { createPost: { status: 'DRAFT', author: { name: 'Olivia' } } } })
  const { data, errors } = await gql(everything)
  expect(errors).toBeUndefined()
  expect(data).toMatchObject({
    viewer: { kind: 'USER', user: { name: 'Olivia' }, organization: { name: 'Apart', brands: { nodes: [{ id: brandId, name: 'Brand' }] } } },
    posts: { nodes: [{ copy: 'Written apart', author: { name: 'Olivia' }, brand: { name: 'Brand', organization: { name: 'Apart' } } }] },
  })
  const widget = data.widgets.find(({ app }: { app: string }) => app === 'publishing')
  expect(widget).toMatchObject({ payload: { statistics: expect.arrayContaining([{ key: 'scheduledToday', value: 0 }]) } })
})

test('a token is valid at once for an organization that was just created', async () => {
  const who = (headers: Record<string, string>) => gql('{ viewer { organization { slug } } }', {}, headers)
  await who({ authorization: bearer })
  const created = await gql('mutation { createOrganization(input: { name: "New", slug: "new" }) { id } }')
  const change = 'mutation($to: ID!) { switchOrganization(input: { organizationId: $to }) { accessToken } }'
  const switched = await gql(change, { to: created.data.createOrganization.id })
  const answer = await who({ authorization: `Bearer ${switched.data.switchOrganization.accessToken}` })
  expect(answer).toEqual({ data: { viewer: { organization: { slug: 'new' } } } })
})

test('a person signs in with a browser on identity’s page', async () => {
  const page = await fetch(`${platform.url}/identity/login`)
  const token = /name="token" value="([^"]+)"/.exec(await page.text())![1]!
  const cookie = page.headers.getSetCookie()[0]!.split(';')[0]!
  const body = new URLSearchParams({ token, email, password })
  const entered = await fetch(`${platform.url}/identity/login`, { method: 'POST', headers: { cookie }, body, redirect: 'manual' })
  expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
  expect(entered.headers.getSetCookie()[0]).toMatch(/^identity\.session_token=/)
})

test('the router is not ready while identity cannot sign tokens', async () => {
  const ready = async () => (await fetch(`${platform.url}/health/ready`)).status
  expect(await ready()).toBe(200)
  const secretIs = (change: string) => database.sequelize.query(`update identity.secret_in_use set fingerprint = ${change}`)
  await secretIs(`fingerprint || 'another'`)
  expect(await ready()).toBe(503)
  await secretIs(`replace(fingerprint, 'another', '')`)
  expect(await ready()).toBe(200)
})

test('keys, cookies and REST work as in one process, with the same error messages', async () => {
  expect((await gql('{ viewer { kind scopes } }', {}, { 'x-api-key': apiKey })).data.viewer).toEqual({ kind: 'API_KEY', scopes: ['publishing:posts.read'] })
  expect((await post('/graphql', { query: '{ viewer { kind } }' }, { 'x-api-key': 'sgk_nobody' })).status).toBe(401)
  expect((await post('/identity/api/auth/sign-in/email', { email, password: 'wrong' })).status).toBe(401)
  const created = await post('/publishing/api/posts', { brandId, platform: 'x', copy: 'By REST' }, { authorization: bearer })
  expect([created.status, created.json.copy]).toEqual([201, 'By REST'])
  const cookie = (await post('/identity/api/auth/sign-in/email', { email, password })).headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  expect((await gql('{ viewer { user { email } } }', {}, { cookie, origin: platform.url })).data.viewer.user).toEqual({ email })
  const refused = await gql('mutation { createPost(input: { brandId: "none", platform: X, copy: "x" }) { id } }')
  expect(refused.errors[0]).toMatchObject({ path: ['createPost'], extensions: { code: 'BAD_USER_INPUT', service: 'publishing' } })
})

test('a removed member receives no events after two seconds; posts and connections stay', async () => {
  const signedIn = await post('/identity/api/auth/sign-in/email', { email: 'mia@apart.test', password })
  const mia = { authorization: `Bearer ${signedIn.json.accessToken}` }
  const input = { brandId, platform: 'X', copy: 'By Mia' }
  const made = await gql('mutation ($input: CreatePostInput!) { createPost(input: $input) { id author { id name } } }', { input }, mia)
  const { id, author } = made.data.createPost
  expect(author.name).toBe('Mia')
  const connection = newId()
  await database.sequelize.query(
    `insert into publishing.connections (brand_id, id, platform, author_id, active, deactivated_reason, external_account_id, account_name, connected_at, created_at, updated_at, created_by)
     values ('${brandId}', '${connection}', 'X', '${author.id}', false, 'by this test', 'mia', '@mia', now(), now(), now(), 'user:${author.id}')`,
  )
  const closed = Promise.withResolvers<{ code: number; reason: string }>()
  const client = createClient({
    url: `${platform.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: mia,
    retryAttempts: 0,
    on: { closed: event => closed.resolve(event as { code: number; reason: string }) },
  })
  const stream = client.iterate({ query: 'subscription ($brandId: ID!) { postStatusChanged(brandId: $brandId) { id } }', variables: { brandId } })
  const heard = stream.next().catch(error => error)
  const members = await gql('{ organizationMembers { nodes { id user { id } } } }')
  const membership = members.data.organizationMembers.nodes.find((node: { user: { id: string } }) => node.user.id === author.id)
  const began = performance.now()
  await gql('mutation ($input: RemoveMemberInput!) { removeMember(input: $input) { id } }', { input: { id: membership.id } })
  expect(await closed.promise).toMatchObject({ code: 4403, reason: 'rights changed' })
  console.log(`apart: the stream of a removed member ended after ${Math.round(performance.now() - began)} ms`)
  await Promise.all([heard, client.dispose()])
  const look = '{ viewer { organization { brands { nodes { connections { id orphaned active author { name } } } } } } }'
  const found = await until('the connection is that of somebody who left', async () => {
    const { data } = await gql(look)
    const connections = data.viewer.organization.brands.nodes.flatMap((brand: { connections: object[] }) => brand.connections)
    return connections.find((each: { id: string; orphaned: boolean }) => each.id === connection && each.orphaned)
  })
  expect(found).toEqual({ id: connection, orphaned: true, active: false, author: null })
  expect((await gql('query ($id: ID!) { post(id: $id) { copy author { name } } }', { id })).data.post).toEqual({ copy: 'By Mia', author: null })
})

test('a subscription within one subgraph gets its events', async () => {
  const client = createClient({
    url: `${platform.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: bearer },
    retryAttempts: 0,
  })
  const stream = client.iterate<{ postStatusChanged: { copy: string; status: string } }>({
    query: 'subscription ($brandId: ID!) { postStatusChanged(brandId: $brandId) { copy status brand { name } author { name } } }',
    variables: { brandId },
  })
  const pending = stream.next()
  let got: Awaited<typeof pending> | undefined
  pending.then(result => {
    got = result
  })
  const copies: string[] = []
  // The socket needs a moment to subscribe; changes before that are missed.
  await until('the event came', async () => {
    copies.push(`Told ${copies.length}`)
    const input = { brandId, platform: 'X', copy: copies.at(-1) }
    expect((await gql('mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }', { input })).errors).toBeUndefined()
    return got
  })
  expect(got!.value).toMatchObject({ data: { postStatusChanged: { status: 'DRAFT', brand: { name: 'Brand' }, author: { name: 'Olivia' } } } })
  expect(copies).toContain(got!.value.data!.postStatusChanged.copy)
  await stream.return!()
  await client.dispose()
})

describe('D3 a distributed subgraph accepts only seals of the router for itself', () => {
  const viewer = () => person(ids.userId, ids.organizationId, ['owner'])
  const sealed = (audience: string, { at = new Date(), by = key, purpose = forOperation as Purpose } = {}) =>
    createSeal(by, createBoundClock(at))(viewer(), audience, purpose)
  const ask = (headers: Record<string, string>, query = '{ posts(first: 1) { nodes { copy } } }') =>
    post('/graphql', { query }, headers, platform.urls.publishing)

  test('answers with a valid one', async () => {
    expect((await ask({ [sealHeader]: await sealed('publishing') })).json.data.posts.nodes).toHaveLength(1)
  })

  test('answers nothing without a seal, _service, _entities and forwarded routes included', async () => {
    for (const query of ['{ __typename }', '{ _service { sdl } }', '{ _entities(representations: []) { __typename } }']) {
      const { status, json } = await ask({}, query)
      expect([status, json.code, json.data]).toEqual([401, 'UNAUTHENTICATED', undefined])
    }
    expect((await ask({ authorization: bearer })).status).toBe(401)
    expect((await post('/identity/api/auth/sign-in/email', { email, password }, {}, platform.urls.identity)).status).toBe(401)
    expect((await post('/internal/authority', { ask: 'jwks' }, {}, platform.urls.identity)).status).toBe(401)
    expect((await fetch(`${platform.urls.publishing}/health/ready`)).status).toBe(200)
  })

  test.for<[string, () => Promise<string>]>([
    ['an expired seal', () => sealed('publishing', { at: new Date(Date.now() - 61_000) })],
    ['a seal from the future', () => sealed('publishing', { at: new Date(Date.now() + 61_000) })],
    ['a seal for another subgraph', () => sealed('launcher')],
    ['a seal with a foreign key under a known name', () => sealed('publishing', { by: { id: key.id, key: randomBytes(32) } })],
    ['a seal with a key of an unknown name', () => sealed('publishing', { by: { ...key, id: 'unknown' } })],
    [
      'a seal that was altered',
      async () =>
        (await sealed('publishing')).replace(/\.[^.]*\./, `.${Buffer.from(JSON.stringify({ viewer: viewer(), aud: 'publishing' })).toString('base64url')}.`),
    ],
    ['an access token', async () => bearer.slice(7)],
    ['no token at all', async () => 'none'],
  ])('%s is refused', async ([, make]) => {
    expect((await ask({ [sealHeader]: await make() })).status).toBe(401)
  })

  test('closes a socket without a seal with 4403', async () => {
    const socket = new WebSocket(`${platform.urls.publishing.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.once('open', () => socket.send('{"type":"connection_init"}'))
    expect(await closed).toBe(4403)
  })

  test('answers requests about credentials to the router itself only, not to a sealed viewer', async () => {
    const question = JSON.stringify({ ask: 'jwks' })
    const asked = async (purpose: Purpose) =>
      (await post('/internal/authority', { ask: 'jwks' }, { [sealHeader]: await sealed('identity', { purpose }) }, platform.urls.identity)).status
    expect(await asked(forOperation)).toBe(401)
    expect(await asked(forForward({ method: 'POST', target: '/internal/authority', address: '' }, question))).toBe(401)
    expect(await asked(forAsk('POST', '/internal/authority', question))).toBe(403)
  })

  test('and the router accepts no seal from outside, and no service call without one', async () => {
    const header = { [sealHeader]: await sealed('publishing') }
    expect((await gql('{ viewer { kind } }', {}, header)).data.viewer).toEqual({ kind: 'ANONYMOUS' })
    expect((await post('/internal/ask', { query: '{ viewer { kind } }' })).status).toBe(401)
    expect((await post('/internal/ask', { query: '{ viewer { kind } }' }, { [sealHeader]: await sealed('elsewhere') })).status).toBe(401)
    const own = { [sealHeader]: await sealed('launcher', { purpose: forAsk('POST', '/internal/ask', '{"query":"{ viewer { kind } }"}') }) }
    expect((await post('/internal/ask', { query: '{ viewer { kind } }' }, own)).status).toBe(401)
    const passedOn = { [sealHeader]: await sealed('launcher', { purpose: forForward({ method: 'GET', target: '/launcher/anything', address: '' }, '') }) }
    expect((await post('/internal/ask', { query: '{ viewer { kind } }' }, passedOn)).status).toBe(200)
    const asked = await post('/internal/ask', { query: '{ viewer { kind scopes } }' }, { [sealHeader]: await sealed('launcher') })
    expect(asked.json).toEqual({ data: { viewer: { kind: 'SERVICE', scopes: [...launcher.asks].sort() } } })
  })
})

/** Sends a request line as it is written, which `fetch` would tidy up first. */
const knock = (target: string, { method = 'POST', body = '{"query":"{ _service { sdl } }"}', at = platform.url } = {}) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { hostname, port } = new URL(at)
    const headers = { 'content-type': 'application/json', host: `${hostname}:${port}` }
    const asked = httpRequest({ host: hostname, port, path: target, method, headers, agent: false }, async response => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode!, text })
    })
    asked.on('error', reject).end(method === 'GET' ? undefined : body)
  })

test.for([
  '/identity/api/auth/../../../graphql',
  '/identity/api/auth/%2e%2e/%2e%2e/%2e%2e/graphql',
  '/identity/api/auth/.%2E/.%2E/.%2E/graphql',
  '/identity/api/auth/..%2f..%2f..%2fgraphql',
  '/identity/api/auth/..\\..\\..\\graphql',
  '/identity/api/auth/../../../internal/authority',
  '/identity/api/auth//../../../../graphql',
])('no forward row leads to a subgraph’s own doors: %s', async target => {
  const { status, text } = await knock(target)
  expect([status, JSON.parse(text).code]).toEqual([400, 'BAD_USER_INPUT'])
})

test('an unavailable subgraph fails its own fields only, and is used again when it is back', async () => {
  platform.processes.publishing.child.kill('SIGKILL')
  await platform.processes.publishing.ended
  const { data, errors } = await gql(
    '{ viewer { user { name } organization { name brands { nodes { id } } } } posts(first: 1) { nodes { id } } services { slug } }',
  )
  expect(data).toMatchObject({ viewer: { user: { name: 'Olivia' }, organization: { name: 'Apart', brands: null } }, posts: null })
  expect(data.services).toHaveLength(listedSlugs.length)
  for (const { extensions } of errors) expect(extensions).toMatchObject({ code: 'UPSTREAM_FAILED', service: 'publishing' })
  expect(errors.map(({ path }: { path: string[] }) => path.join('.')).sort()).toEqual(['posts', 'viewer.organization.brands'])
  const callback = await new Promise<number>((resolve, reject) =>
    httpRequest(`${platform.url}/publishing/api/integrations/x/callback?state=a&code=b`, response => resolve(response.statusCode!))
      .on('error', reject)
      .end(),
  )
  expect(callback).toBe(502)
  await platform.restart('publishing')
  expect((await gql('{ posts(first: 1) { nodes { copy } } }')).data.posts.nodes).toHaveLength(1)
})

test('names identity when it is down, over HTTP, REST and WebSocket; anonymous requests are answered', async () => {
  const begun = await connect({ origin: platform.url })
  platform.processes.identity.child.kill('SIGKILL')
  await platform.processes.identity.ended
  const down = { code: 'UPSTREAM_FAILED', service: 'identity' }
  // The router caches a session for one second.
  const { json, status } = await until('the router asks anew', async () => {
    const answer = await post('/graphql', { query: '{ services { slug } }' }, { authorization: bearer })
    return answer.status !== 200 && answer
  })
  expect([status, json.errors[0].extensions]).toEqual([502, down])
  const listed = await fetch(`${platform.url}/publishing/api/posts`, { headers: { authorization: bearer } })
  expect([listed.status, await listed.json()]).toEqual([502, expect.objectContaining(down)])
  expect((await post('/graphql', { query: '{ __typename }' })).json).toEqual({ data: { __typename: 'Query' } })
  const socket = new WebSocket(`${platform.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
  socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: bearer } })))
  expect(await new Promise(resolve => socket.once('close', resolve))).toBe(1013)
  expect(await begun.open(begun.cookie)).toEqual([503, expect.stringContaining('load this page again')])
  await platform.restart('identity')
  expect(await begun.open(begun.cookie)).toEqual([502, expect.stringContaining('X did not complete the connection')])
  expect((await gql('{ viewer { user { name } } }')).data.viewer.user.name).toBe('Olivia')
})

test('in development a failing resolver’s error is sent with its text, over every protocol', async () => {
  await database.sequelize.query('alter table publishing.posts rename to posts_away')
  const { data, errors } = await gql('{ viewer { kind } posts { nodes { id } } }')
  const rest = await fetch(`${platform.url}/publishing/api/posts`, { headers: { authorization: bearer } })
  const problem = await rest.json()
  await database.sequelize.query('alter table publishing.posts_away rename to posts')
  expect(data).toEqual({ viewer: { kind: 'USER' }, posts: null })
  expect(errors).toMatchObject([{ message: expect.stringContaining('publishing.posts'), extensions: { code: 'INTERNAL_SERVER_ERROR', service: 'publishing' } }])
  expect([rest.status, problem]).toEqual([500, expect.objectContaining({ code: 'INTERNAL_SERVER_ERROR', detail: expect.stringContaining('publishing.posts') })])
  expect(JSON.stringify([errors, problem])).not.toMatch(/stack|\.ts/)
})

test('every process ends by TERM with exit code 0', async () => {
  expect(await platform.stop()).toEqual([...listedSlugs, 'router'].map(() => 0))
})
