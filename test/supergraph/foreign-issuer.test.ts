import { OAuth2Server } from 'oauth2-mock-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { createRouter } from '../../router/router.ts'
import { askAt } from '../kit/client.ts'
import { freePort } from '../kit/launch.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const opened = new AsyncDisposableStack()
const login = new OAuth2Server()
let graph: Supergraph
let url: string
let issuerPort: number
let options: () => Omit<Parameters<typeof createRouter>[0], 'port' | 'publicUrl'>
let elapsed = 0
/** How often the issuer was asked for its keys. */
let asked = 0
/** What it answers in place of its keys. */
let instead: string | undefined
/** What its answers wait for. */
let stalled: Promise<void> | undefined

/** A token as the issuer makes it, at the graph's own time: the machine's has gone on since it was opened. */
const tokenOf = (sub: string, more: Record<string, unknown> = {}, { issuer, kid }: { issuer: OAuth2Server['issuer']; kid?: string } = login) => {
  const iat = Math.floor(graph.clock.now().getTime() / 1000)
  const claims = { iat, nbf: iat, exp: iat + 3600, sub, aud: 'supergraph', ...more }
  return issuer.buildToken({ ...(kid !== undefined && { kid }), scopesOrTransform: (_header, payload) => Object.assign(payload, claims) })
}
const bearer = async (...asked: Parameters<typeof tokenOf>) => ({ authorization: `Bearer ${await tokenOf(...asked)}` })
const who = '{ viewer { kind scopes roles user { id email name } organization { id } } }'
const viewer = async (headers: Record<string, string>) => (await askAt(url, who, {}, headers)).data().viewer
const status = async (headers: Record<string, string>) => {
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: who }),
  })
  return answer.status
}
const people = () =>
  graph.rows<{ name: string; email: string | null; subject: string | null }>(
    'select u.name, u.email, f.subject from identity.users u left join identity.foreign_people f on f.user_id = u.id order by u.created_at, u.id',
  )

beforeAll(async () => {
  await login.issuer.keys.generate('RS256')
  // Nobody takes it while the issuer is away.
  await login.start(await freePort(), '127.0.0.1')
  opened.defer(() => (login.listening ? login.stop() : undefined))
  const issuer = login.issuer.url!
  issuerPort = Number(new URL(issuer).port)
  const foreignIssuer = { issuer, jwksUrl: `${issuer}/jwks`, audience: 'supergraph' }
  graph = opened.use(await supergraph({ foreignIssuer, now: new Date().toISOString() }))
  const outbound = createOutbound([issuer])
  opened.defer(() => outbound.close())
  options = () => ({
    engine: graph.platform.engine,
    authority: graph.platform.identity.authority,
    foreign: {
      ...foreignIssuer,
      outbound: async (...call) => {
        asked += 1
        await stalled
        return { ...(await outbound(...call)), ...(instead !== undefined && { text: instead }) }
      },
    },
    subgraphs: graph.platform.subgraphs,
    host: 'localhost',
    environment: 'development',
    clock: graph.clock,
    elapsed: () => elapsed + performance.now(),
    log: graph.job.log,
    readiness: [],
  })
  url = await anotherRouter(opened)
})
afterAll(() => opened.disposeAsync())

test('I-05 a person is created at the first sign-in, once however many requests come, with the address only if the issuer has verified it', async () => {
  const headers = await bearer('ada', { name: 'Ada', email: 'Ada@Example.test', email_verified: true })
  const seen = await Promise.all(Array.from({ length: 20 }, () => viewer(headers)))
  expect(new Set(seen.map(each => each.user.id)).size).toBe(1)
  expect(seen[0]).toMatchObject({ kind: 'USER', roles: [], organization: null, user: { name: 'Ada', email: 'ada@example.test' } })
  expect(seen[0].scopes).toContain('launcher:apps.read')
  expect(await viewer(await bearer('bob', { email: 'bob@example.test' }))).toMatchObject({ user: { name: 'Unnamed', email: null } })
  // Another subject with a taken address is another person.
  expect((await viewer(await bearer('eve', { name: 'Eve', email: 'ada@example.test', email_verified: true }))).user).toMatchObject({ name: 'Eve', email: null })
  expect((await people()).map(({ subject }) => subject).sort()).toEqual(['ada', 'bob', 'eve'])
  const made = await graph.rows(`select action from identity.audit_entries where action = 'account.created'`)
  expect(made).toHaveLength(3)
})

test('twenty routers at once create one person of a subject, and of two subjects with one address at most one has it', async () => {
  const { authority } = graph.platform.identity
  await Promise.all(Array.from({ length: 20 }, (_, at) => authority.admit({ subject: at % 2 ? 'one' : 'two', name: 'Same', email: 'same@example.test' })))
  const made = (await people()).filter(({ name }) => name === 'Same')
  expect(made.map(({ subject }) => subject).sort()).toEqual(['one', 'two'])
  expect(made.filter(({ email }) => email === 'same@example.test')).toHaveLength(1)
})

test('I-05 the active organization is the header’s, if the person is a member', async () => {
  const { owner, organization } = await graph.seed.owner()
  await graph.rows('insert into identity.foreign_people (issuer, subject, user_id, created_at) values ($1, $2, $3, now())', [
    login.issuer.url,
    'olga',
    owner.userId,
  ])
  const headers = await bearer('olga')
  expect(await viewer({ ...headers, 'x-organization-id': organization.id })).toMatchObject({
    roles: ['OWNER'],
    organization: { id: organization.id },
    user: { id: owner.userId },
  })
  expect(await viewer(headers)).toMatchObject({ roles: [], organization: null })
  expect(await status({ ...(await bearer('ada')), 'x-organization-id': organization.id })).toBe(403)
  expect(await status({ ...headers, 'x-organization-id': 'none' })).toBe(403)
  await graph.rows('delete from identity.memberships where user_id = $1', [owner.userId])
  elapsed += 1000
  expect(await status({ ...headers, 'x-organization-id': organization.id })).toBe(403)
})

test.each([
  ['another audience', { aud: 'elsewhere' }],
  ['another issuer', { iss: 'https://elsewhere.example' }],
  ['no subject', { sub: undefined }],
  ['an empty subject', { sub: '' }],
  ['a subject that is too long', { sub: 'x'.repeat(256) }],
  ['no end', { exp: undefined }],
  ['an end that is past', { exp: 1_700_000_000 }],
  ['a beginning that is to come', { nbf: 4_000_000_000 }],
])('a token with %s is refused', async (_what, claims) => {
  expect(await status(await bearer('mallory', claims))).toBe(401)
  expect((await people()).some(({ subject }) => subject === 'mallory')).toBe(false)
})

test('refuses a subject that no database can store without affecting others, and ignores an invalid name', async () => {
  const odd = await Promise.all(['with\0NUL', '\ud800half'].map(sub => bearer(sub)))
  const usual = await bearer('usual', { name: 'Usual' })
  expect(await Promise.all([...odd, usual].map(status))).toEqual([401, 401, 200])
  for (const [at, name] of ['with\0NUL', 'two\nlines', '\ud800', '\u202eturned', '👩‍👩‍👧'.repeat(40)].entries()) {
    const { user } = await viewer(await bearer(`named-${at}`, { name }))
    expect([user.name === 'Unnamed', user.name.isWellFormed()], JSON.stringify(name)).toEqual([at < 4, true])
  }
  expect((await viewer(await bearer('mailed', { email: 'a\0b@example.test', email_verified: true }))).user.email).toBeNull()
})

test('an address that equals somebody’s only after lower-casing does not make its holder that person', async () => {
  const { authority } = graph.platform.identity
  const [kate] = await graph.rows<{ id: string }>(
    `insert into identity.users (id, name, email, email_verified, created_at, updated_at)
     values (gen_random_uuid(), 'Kate', 'kate@example.test', true, now(), now()) returning id`,
  )
  await authority.admit({ subject: 'kelvin', name: 'Kelvin', email: '\u212aate@example.test' })
  expect((await authority.foreigners(['kelvin'])).get('kelvin')?.userId).not.toBe(kate!.id)
  await authority.admit({ subject: 'kate', name: 'Kate', email: 'KATE@example.test' })
  expect((await authority.foreigners(['kate'])).get('kate')?.userId).toBe(kate!.id)
})

test('rejects a token that the issuer did not sign, or signed with a shared secret or not at all, and one of identity', async () => {
  const [header, payload, signature] = (await tokenOf('ada')).split('.') as [string, string, string]
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const said = JSON.parse(Buffer.from(payload, 'base64url').toString())
  for (const forged of [
    `${header}.${encode({ ...said, sub: 'mallory' })}.${signature}`,
    `${encode({ alg: 'none' })}.${payload}.`,
    `${encode({ alg: 'HS256', kid: JSON.parse(Buffer.from(header, 'base64url').toString()).kid })}.${payload}.${signature}`,
  ])
    expect(await status({ authorization: `Bearer ${forged}` })).toBe(401)
})

test('the issuer’s next key is accepted at once, and a flood of unknown key ids causes one fetch in ten seconds', async () => {
  const stranger = new OAuth2Server()
  await stranger.issuer.keys.generate('RS256')
  stranger.issuer.url = login.issuer.url!
  const unknown = await tokenOf('x', {}, stranger)
  elapsed += 10_000
  const before = asked
  const flood = await Promise.all(Array.from({ length: 50 }, () => status({ authorization: `Bearer ${unknown}` })))
  expect([new Set(flood), asked - before]).toEqual([new Set([401]), 1])
  elapsed += 10_000
  const next = await login.issuer.keys.generate('ES256')
  const token = await tokenOf('ada', {}, { issuer: login.issuer, kid: next.kid })
  expect(await status({ authorization: `Bearer ${token}` })).toBe(200)
})

test('I-05 the set-up link only asks for the first owner’s address; the person with it, verified by the issuer, becomes the owner, and the link is used up', async () => {
  // Uses its own database, in which nobody has signed in by the issuer yet.
  await using fresh = await supergraph({ foreignIssuer: { issuer: 'https://login.example', jwksUrl: 'https://login.example/jwks', audience: 'a' } })
  const { identity } = fresh.platform
  const link = `http://localhost:4000${await identity.openSetup()}`
  const page = await (await identity.http(new Request(link))).text()
  expect([page.includes('first owner'), page.includes('type="password"')]).toEqual([true, false])
  const form = new URLSearchParams({ code: new URL(link).searchParams.get('code')!, organization: 'Acme', name: 'Ada', email: 'first@example.test' })
  const send = () => identity.http(new Request('http://localhost:4000/identity/setup', { method: 'POST', body: form }))
  expect((await send()).status).toBe(201)
  await identity.authority.admit({ subject: 'unverified', name: 'Eve', email: null })
  await fresh.rows(`delete from identity.foreign_people`)
  await identity.authority.admit({ subject: 'ada', name: 'Ada', email: 'First@example.test' })
  const [ada] = [...(await identity.authority.foreigners(['ada'])).values()]
  expect(Object.values(ada!.memberships).flat().sort()).toEqual(['owner', 'platform_super_admin'])
  expect((await send()).status).toBe(410)
  expect(await identity.openSetup()).toBeNull()
})

test('a suspended person is rejected within a second', async () => {
  const headers = await bearer('bob')
  expect(await status(headers)).toBe(200)
  await graph.rows(`update identity.users set suspended_at = now() where id = (select user_id from identity.foreign_people where subject = 'bob')`)
  elapsed += 1000
  expect(await status(headers)).toBe(401)
})

test('sign-in belongs to the issuer: routes, root fields and keys are closed, and cookies are ignored', async () => {
  const at = (method: string, path: string, body?: object) =>
    fetch(`${url}/identity/api/auth/${path}`, {
      method,
      redirect: 'manual',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  for (const [method, path] of [
    ['POST', 'sign-in/email'],
    ['POST', 'sign-out'],
    ['GET', 'token'],
  ] as const) {
    const answer = await at(method, path, method === 'POST' ? { email: 'ada@example.test', password: 'correct horse battery' } : undefined)
    expect([answer.status, ((await answer.json()) as { reason: string }).reason], path).toEqual([409, 'EXTERNAL_ISSUER'])
  }
  const keys = await at('GET', 'jwks')
  expect([keys.status, keys.headers.get('location')]).toEqual([307, `${login.issuer.url}/jwks`])
  for (const document of ['openid-configuration', 'oauth-authorization-server']) {
    const discovery = await fetch(`${url}/.well-known/${document}`, { redirect: 'manual' })
    expect([discovery.status, discovery.headers.get('location')]).toEqual([307, `${login.issuer.url}/.well-known/openid-configuration`])
  }
  const page = await fetch(`${url}/identity/login`)
  expect([page.status, (await page.text()).includes('People sign in at')]).toEqual([409, true])
  // Invitation mails link there as before: the page says where to answer.
  const invitation = await fetch(`${url}/identity/invitation?code=${'c'.repeat(43)}`)
  expect([invitation.status, (await invitation.text()).includes('you see the invitation there')]).toEqual([409, true])
  const overview = await (await fetch(url, { headers: { accept: 'text/html' } })).text()
  expect([overview.includes(`href="${login.issuer.url}"`), overview.includes('/identity/login')]).toEqual([true, false])
  const answer = await askAt(url, 'mutation { switchOrganization(input: { organizationId: "x" }) { accessToken } }', {}, await bearer('ada'))
  expect(answer.error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'EXTERNAL_ISSUER' })
  expect((await askAt(url, '{ viewer { kind } }', {}, { cookie: 'identity.session_token=anything' })).data().viewer).toEqual({ kind: 'ANONYMOUS' })
})

test.each([
  ['no keys', '{"keys":[]}'],
  ['no list of keys', '{}'],
  ['a page', '<html>Back soon</html>'],
])('keys that are known go on while the issuer answers with %s', async (_what, answer) => {
  const headers = await bearer('ada')
  instead = answer
  elapsed += 3_600_000
  const before = asked
  expect([await status(headers), asked - before]).toEqual([200, 1])
  instead = undefined
})

test('known keys stay valid while the issuer is unavailable, and nobody waits for it', async () => {
  const headers = await bearer('ada')
  expect(await status(headers)).toBe(200)
  await login.stop()
  elapsed += 3_600_000
  expect(await status(headers)).toBe(200)

  // Requests do not wait for a silent issuer: it is asked once, and known keys stay in use.
  const { promise, resolve } = Promise.withResolvers<void>()
  stalled = promise
  elapsed += 10_000
  const before = asked
  expect(await Promise.all([status(headers), status(headers)])).toEqual([200, 200])
  expect(asked - before).toBe(1)
  resolve()
  stalled = undefined
})

/** Another router of the same platform, which has heard nothing from the issuer yet. */
async function anotherRouter(stack: AsyncDisposableStack): Promise<string> {
  const port = await freePort()
  const router = await createRouter({ ...options(), port, publicUrl: `http://localhost:${port}` })
  await router.listen()
  stack.defer(() => router.close())
  return `http://localhost:${port}`
}

test('rejects every caller with a token, and treats none as anonymous, while no keys of the issuer are available', async () => {
  await using stack = new AsyncDisposableStack()
  if (!login.listening) await login.start(issuerPort, '127.0.0.1')
  const headers = await bearer('ada')
  await login.stop()
  const other = await anotherRouter(stack)
  const answers = async () => {
    const graph = await fetch(`${other}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query: who }),
    })
    const rest = await fetch(`${other}/publishing/api/brands`, { headers })
    const told = (await rest.json()) as { code: string; detail: string }
    return [graph.status, ((await graph.json()) as { errors: { extensions: object }[] }).errors?.[0]?.extensions, rest.status, told.code]
  }
  const refused = [502, expect.objectContaining({ code: 'UPSTREAM_FAILED', service: 'issuer' }), 502, 'UPSTREAM_FAILED']
  const before = asked
  expect(await answers()).toEqual(refused)
  // However many requests arrive, the issuer is asked once in ten seconds.
  expect(await Promise.all(Array.from({ length: 10 }, answers))).toEqual(Array(10).fill(refused))
  expect(asked - before).toBe(1)
  expect((await askAt(other, '{ viewer { kind } }', {}, {})).data().viewer).toEqual({ kind: 'ANONYMOUS' })
  // Back again, it is believed without a new start.
  await login.start(issuerPort, '127.0.0.1')
  elapsed += 10_000
  expect((await askAt(other, who, {}, headers)).data().viewer).toMatchObject({ kind: 'USER', user: { name: 'Ada' } })
})
