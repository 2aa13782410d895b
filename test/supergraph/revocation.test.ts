import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'
import { modelOf } from '../../platform/sql/table.ts'
import { type Provisioned, provision } from '../../subgraphs/identity/setup/provision.ts'
import { brands } from '../../subgraphs/publishing/stores/brand.ts'
import { mode } from '../kit/assembled.ts'
import { type Client, signIn } from '../kit/client.ts'
import { createTestDatabase, type TestDatabase } from '../kit/database.ts'
import { type Credentials, type OpenStreams, openStreams, type Tried, tryEveryDoor } from '../kit/every-door.ts'
import { identityOf } from '../kit/identity.ts'
import { type Processes, startProcesses } from '../kit/processes.ts'

const password = 'a password of this test'
const token = randomBytes(32).toString('base64url')
const owner = 'owner@revoked.test'
const root = 'root@revoked.test'
const manager = 'manager@revoked.test'
/** Each loses something else. */
const members = ['session', 'cookie', 'member', 'suspended', 'disabled', 'consent', 'family', 'distrusted', 'behalf'] as const
const addressOf = (name: (typeof members)[number]) => `${name}@revoked.test`

const world = {
  password,
  people: [owner, root, manager, ...members.map(addressOf)].map(email => ({ email, name: email })),
  organizations: [
    {
      slug: 'revoked',
      name: 'Revoked',
      members: [
        { email: owner, roles: ['owner'] as const },
        { email: manager, roles: ['admin'] as const },
        ...members.map(name => ({ email: addressOf(name), roles: ['member'] as const })),
      ],
    },
    { slug: 'admin', name: 'Admin', members: [{ email: root, roles: ['platform_super_admin'] as const }] },
  ],
  keys: [],
}

const opened = new AsyncDisposableStack()
let database: TestDatabase
let platform: Processes
let made: Provisioned
let brandId: string
let boss: Client
let admin: Client

beforeAll(async () => {
  database = opened.use(await createTestDatabase())
  made = await provision(identityOf(database.sequelize, systemClock), world)
  const now = systemClock.now()
  brandId = newId(now)
  const by = { createdAt: now, updatedAt: now, createdBy: `user:${made.users[owner]}` }
  await modelOf(database.sequelize, brands).create({ id: brandId, organizationId: made.organizations.revoked, name: 'Brand', ...by })
  platform = opened.use(
    await startProcesses(database.url, { services: ['identity', 'publishing'], environment: { APP_SERVICE_TOKENS: `app_launcher:${token}` } }),
  )
  boss = await signIn(platform.url, owner, password)
  admin = await signIn(platform.url, root, password)
}, 120_000)
afterAll(() => opened.disposeAsync())

const postsRead: Tried = { query: '{ posts(first: 1) { nodes { id } } }', path: '/publishing/api/posts', asPerson: false }
const asPerson: Tried = { ...postsRead, asPerson: true }
const bearer = (accessToken: string): Credentials => ({ authorization: `Bearer ${accessToken}` })
const sessionOf = (accessToken: string): string => JSON.parse(Buffer.from(accessToken.split('.')[1]!, 'base64url').toString()).sid
const change = (client: Client, mutation: string, type: string, input: object) =>
  client.query(`mutation($input: ${type}Input!) { ${mutation}(input: $input) { __typename } }`, { input })

interface Held {
  readonly who: Credentials
  /** What it is good for, before and not after. */
  readonly tried: Tried
  /** What is refused first and last: the reason that the socket is closed with. */
  readonly reason: string
  revoke(): Promise<unknown>
  /** Null: it may listen to nothing. @default posts of the brand */
  readonly subscription?: null
}

const person = async (name: (typeof members)[number]) => signIn(platform.url, addressOf(name), password)
const membershipOf = async (email: string): Promise<string> => {
  const [rows] = await database.sequelize.query(`select id from identity.memberships where user_id = '${made.users[email]}'`)
  return (rows[0] as { id: string }).id
}
const key = async () => {
  const input = { name: 'a key', scopes: ['publishing:posts.read'] }
  const { createApiKey } = await boss.query<{ createApiKey: { secret: string; apiKey: { id: string } } }>(
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }',
    { input },
  )
  return { id: createApiKey.apiKey.id, who: { 'x-api-key': createApiKey.secret } }
}

/** Signs in with a browser. */
async function cookieOf(email: string): Promise<string> {
  const answer = await fetch(`${platform.url}/identity/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  return answer.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
}

/** An app of somebody's, by a client that was made for it: with consent to a code, and with that to tokens. */
async function app(name: (typeof members)[number]) {
  const redirect_uri = 'http://127.0.0.1/callback'
  const scope = 'offline_access publishing:posts.read'
  const input = { name: `An app of ${name}`, type: 'PUBLIC', redirectUris: [redirect_uri], scopes: scope.split(' '), trusted: false }
  const { createOAuthClient } = await admin.query<{ createOAuthClient: { client: { id: string; clientId: string } } }>(
    'mutation($input: CreateOAuthClientInput!) { createOAuthClient(input: $input) { client { id clientId } } }',
    { input },
  )
  const { id, clientId: client_id } = createOAuthClient.client
  const cookie = await cookieOf(addressOf(name))
  const verifier = randomBytes(32).toString('base64url')
  const oauth = `${platform.url}/identity/api/auth/oauth2`
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope,
    state: 'state',
    code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  })
  const page = await fetch(`${oauth}/authorize?${asked}`, { headers: { cookie }, redirect: 'manual' })
  const request = new URL(page.headers.get('location')!, platform.url).searchParams.get('request')
  const consent = await fetch(`${oauth}/consent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie, origin: platform.url },
    body: JSON.stringify({ request, accept: true }),
  })
  const { redirectTo } = (await consent.json()) as { redirectTo: string }
  const code = new URL(redirectTo).searchParams.get('code')!
  const exchange = async (fields: Record<string, string>) => {
    const answer = await fetch(`${oauth}/token`, { method: 'POST', body: new URLSearchParams({ client_id, ...fields }) })
    return { status: answer.status, body: (await answer.json()) as Record<string, string> }
  }
  const { body } = await exchange({ grant_type: 'authorization_code', code, redirect_uri, code_verifier: verifier })
  return {
    id,
    who: bearer(body.access_token!),
    refresh: () => exchange({ grant_type: 'refresh_token', refresh_token: body.refresh_token! }),
  }
}

const cases: Record<string, () => Promise<Held>> = {
  async 'a session'() {
    const me = await person('session')
    return {
      who: bearer(me.token),
      tried: asPerson,
      reason: 'session ended',
      revoke: () => change(me, 'revokeSession', 'RevokeSession', { id: sessionOf(me.token) }),
    }
  },
  async 'the session of a browser'() {
    const who = { cookie: await cookieOf(addressOf('cookie')), origin: platform.url }
    const me = await person('cookie')
    return { who, tried: asPerson, reason: 'session ended', revoke: () => change(me, 'revokeSessions', 'RevokeSessions', { keepCurrent: true }) }
  },
  async 'a key'() {
    const { id, who } = await key()
    return { who, tried: postsRead, reason: 'key revoked', revoke: () => change(boss, 'revokeApiKey', 'RevokeApiKey', { id }) }
  },
  async 'the former secret of a key, without grace'() {
    const { id, who } = await key()
    return { who, tried: postsRead, reason: 'key revoked', revoke: () => change(boss, 'rotateApiKey', 'RotateApiKey', { id, graceSeconds: 0 }) }
  },
  async 'a membership'() {
    const me = await person('member')
    const id = await membershipOf(addressOf('member'))
    return { who: bearer(me.token), tried: asPerson, reason: 'rights changed', revoke: () => change(boss, 'removeMember', 'RemoveMember', { id }) }
  },
  async 'a role'() {
    const me = await signIn(platform.url, manager, password)
    const id = await membershipOf(manager)
    const tried = { query: '{ invitations(first: 1) { nodes { id } } }', path: '/identity/api/api-keys', asPerson: false }
    return {
      who: bearer(me.token),
      tried,
      reason: 'rights changed',
      revoke: () => change(boss, 'changeMemberRoles', 'ChangeMemberRoles', { id, roles: ['MEMBER'] }),
    }
  },
  async 'an account that is suspended'() {
    const me = await person('suspended')
    const id = made.users[addressOf('suspended')]
    return {
      who: bearer(me.token),
      tried: asPerson,
      reason: 'session ended',
      revoke: () => change(admin, 'suspendUser', 'SuspendUser', { id, reason: 'a test' }),
    }
  },
  async 'an OAuth client'() {
    const { id, who } = await app('disabled')
    return { who, tried: postsRead, reason: 'session ended', revoke: () => change(admin, 'disableOAuthClient', 'DisableOAuthClient', { id }) }
  },
  async 'a consent'() {
    const { who } = await app('consent')
    const me = await person('consent')
    const { consents } = await me.query<{ consents: { id: string }[] }>('{ consents { id } }')
    return { who, tried: postsRead, reason: 'session ended', revoke: () => change(me, 'revokeConsent', 'RevokeConsent', { id: consents[0]!.id }) }
  },
  async 'a family of refresh tokens, of which one came twice'() {
    const { refresh } = await app('family')
    const { body } = await refresh()
    const again = async () => expect(await refresh()).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    return { who: bearer(body.access_token!), tried: postsRead, reason: 'session ended', revoke: again }
  },
  async 'the membership of whom a service asks for'() {
    const id = made.users[addressOf('behalf')]!
    const who = { 'x-service-token': token, 'x-app-id': 'app_launcher', 'x-organization-id': made.organizations.revoked!, 'x-on-behalf-of': id }
    const tried = { query: '{ publishingWidget { statistics { key } } }', path: '/publishing/api/widget', asPerson: false }
    const membership = await membershipOf(addressOf('behalf'))
    return { who, tried, reason: 'rights changed', subscription: null, revoke: () => change(boss, 'removeMember', 'RemoveMember', { id: membership }) }
  },
  // Last: it ends the tokens of everybody.
  async 'a signing key'() {
    const me = await person('distrusted')
    return {
      who: bearer(me.token),
      tried: asPerson,
      reason: 'signing key distrusted',
      revoke: () => change(admin, 'rotateSigningKey', 'RotateSigningKey', { distrust: true }),
    }
  },
}

const where = mode === 'apart' ? 'both routers before processes apart' : 'one process'
/** How long anything may go on after it was revoked, in ms. */
const timeoutMs = 2000

test.each(Object.keys(cases))(`%s is refused at every door of ${where} within two seconds of its end, and no stream outlives it`, async name => {
  const { who, tried, reason, revoke, subscription = `subscription { postStatusChanged(brandId: "${brandId}") { id } }` } = await cases[name]!()
  const everywhere = () => Promise.all(platform.routers.map(at => tryEveryDoor(at, who, tried)))
  const said = await everywhere()
  for (const doors of said) expect(Object.values(doors)).toEqual(Object.values(doors).map(() => null))
  const streams: OpenStreams[] = await Promise.all(platform.routers.map(at => openStreams(at, who, subscription)))
  try {
    await revoke()
    const over = wait(timeoutMs).then(() => 'two seconds are over' as const)
    const ended = Promise.all(streams.map(each => Promise.race([each.ended, over])))
    let last = await everywhere()
    const open = () => last.some(doors => Object.values(doors).includes(null))
    for (const until = performance.now() + timeoutMs; open() && performance.now() < until; last = await everywhere()) await wait(50)
    for (const doors of last)
      for (const [door, answer] of Object.entries(doors)) expect(`${door}: ${answer}`).toMatch(/: (?:40[13]|44\d\d|200 (?:FORBIDDEN|UNAUTH\w+))\b/)
    expect(await ended).toEqual(platform.routers.map(() => ({ code: 4403, reason })))
  } finally {
    for (const each of streams) each.leave()
  }
})
