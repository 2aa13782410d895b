import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { newId } from '../../platform/ids.ts'
import { createRouter } from '../../router/router.ts'
import { registration as launcher } from '../../subgraphs/launcher/registration.ts'
import { registration as payments } from '../../subgraphs/payments/registration.ts'
import { askAt } from '../kit/client.ts'
import { freePort } from '../kit/launch.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const token = 'a token of the launcher for tests'
const settlement = 'a token of settlement for tests!!'
const who = '{ viewer { kind roles scopes user { id } organization { id } } }'
const opened = new AsyncDisposableStack()
let graph: Supergraph
let url: string
let world: { readonly organizationId: string; readonly ownerId: string; readonly memberId: string; readonly brandId: string; readonly elsewhere: string }

beforeAll(async () => {
  graph = opened.use(await supergraph())
  const { owner, member, brand } = await graph.seed.owner().brand().member()
  const { owner: stranger } = await graph.seed.owner()
  world = { organizationId: owner.organizationId!, ownerId: owner.userId!, memberId: member.userId!, brandId: brand.id, elsewhere: stranger.userId! }
  const port = await freePort()
  url = `http://localhost:${port}`
  const { engine, identity, subgraphs } = graph.platform
  const router = await createRouter({
    engine,
    authority: identity.authority,
    callers: {
      tokens: {
        own: new Map([['app_launcher', [token]]]),
        gateway: [],
        dedicated: [{ appId: 'app_settlement', at: 'payments', token: settlement }],
      },
      registrations: [
        { ...launcher, asks: ['publishing:posts.read', 'publishing:accounts.read', 'publishing:accounts.write', 'payments:orders.read'] },
        payments,
      ],
      gateway: graph.platform.providers,
    },
    subgraphs,
    host: 'localhost',
    port,
    publicUrl: url,
    environment: 'development',
    clock: graph.clock,
    log: graph.job.log,
    readiness: [],
  })
  await router.listen()
  opened.defer(() => router.close())
})
afterAll(() => opened.disposeAsync())

const asLauncher = (more: Record<string, string> = {}) => ({ 'x-service-token': token, 'x-app-id': 'app_launcher', ...more })
const here = () => ({ 'x-organization-id': world.organizationId })
const get = (path: string, headers: Record<string, string>) => fetch(`${url}${path}`, { headers })

test('G-10 a service is its app, in the organization and on behalf of the member that it names, with the rights of both and no role', async () => {
  const viewer = async (headers: Record<string, string>) => (await askAt(url, who, {}, headers)).data().viewer
  const scopes = ['payments:orders.read', 'publishing:accounts.read', 'publishing:accounts.write', 'publishing:posts.read']
  const bare = { kind: 'SERVICE', roles: [], scopes, user: null, organization: null }
  expect(await viewer(asLauncher())).toEqual(bare)
  expect(await viewer(asLauncher(here()))).toEqual({ ...bare, organization: { id: world.organizationId } })
  const behalf = asLauncher({ ...here(), 'x-on-behalf-of': world.memberId })
  const theirs = ['publishing:accounts.read', 'publishing:posts.read']
  expect(await viewer(behalf)).toEqual({ ...bare, scopes: theirs, user: { id: world.memberId }, organization: { id: world.organizationId } })
  expect(await viewer(asLauncher({ 'x-on-behalf-of': world.elsewhere }))).toMatchObject({ user: { id: world.elsewhere }, organization: null, scopes: [] })
})

test('rejects every mistake alike over GraphQL and REST', async () => {
  const status = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ query: who })
    const asked = await fetch(`${url}/graphql`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
    const rest = await get('/publishing/api/brands', headers)
    const problem = (await rest.json()) as { reason?: string }
    return [asked.status, rest.status, problem.reason]
  }
  expect(await status({ 'x-service-token': token })).toEqual([401, 401, undefined])
  expect(await status(asLauncher({ 'x-app-id': 'app_publishing' }))).toEqual([401, 401, undefined])
  expect(await status(asLauncher({ 'x-service-token': `${token.slice(0, -1)}x` }))).toEqual([401, 401, undefined])
  expect(await status(asLauncher({ 'x-organization-id': newId() }))).toEqual([404, 404, undefined])
  expect(await status(asLauncher({ ...here(), 'x-on-behalf-of': world.elsewhere }))).toEqual([403, 403, 'DELEGATION'])
})

test('rejects calls on behalf of a suspended person, and of a service account outside of its organization', async () => {
  const { owner, member } = await graph.seed.owner().member()
  const account = newId()
  await graph.rows(
    `insert into identity.users (id, name, email_verified, kind, created_at, updated_at) values ($1, 'Agent', false, 'service_account', now(), now())`,
    [account],
  )
  await graph.rows(
    `insert into identity.memberships (organization_id, id, user_id, roles, created_by, created_at, updated_at) values ($1, $2, $3, '{member}', 'platform', now(), now())`,
    [owner.organizationId, newId(), account],
  )
  await graph.rows('update identity.users set suspended_at = now() where id = $1', [member.userId])
  const status = async (person: string | null, more: Record<string, string> = {}) => {
    const asked = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...asLauncher({ 'x-on-behalf-of': person!, ...more }) },
      body: JSON.stringify({ query: who }),
    })
    return asked.status
  }
  const there = { 'x-organization-id': owner.organizationId! }
  expect([await status(account, there), await status(account)]).toEqual([200, 403])
  expect([await status(member.userId, there), await status(member.userId)]).toEqual([403, 403])
  expect([await status(owner.userId, there), await status(owner.userId)]).toEqual([200, 200])
})

test('tells a service that names no organization that organization records need one', async () => {
  expect((await get('/publishing/api/brands', asLauncher(here()))).status).toBe(200)
  const answer = await get('/publishing/api/brands', asLauncher())
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'BAD_USER_INPUT'])
})

test('a token for one service is invalid at any other, and meets no policies of people', async () => {
  const headers = { 'x-service-token': settlement, 'x-app-id': 'app_settlement', ...here() }
  expect((await get('/publishing/api/brands', headers)).status).toBe(403)
  const code = async (document: string, as: Record<string, string>) => (await askAt(url, document, {}, as)).code
  expect(await code('{ posts(first: 1) { nodes { id } } }', headers)).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
  expect(await code('mutation { createOrganization(input: { slug: "mine", name: "Mine" }) { id } }', asLauncher(here()))).toBe('UNAUTHORIZED_FIELD_OR_TYPE')
})

test('the log names the calling app, its organization and the person, and never the token', async () => {
  const answer = await get('/publishing/api/brands', asLauncher({ ...here(), 'x-on-behalf-of': world.memberId, 'x-request-id': 'asked-by-a-service' }))
  expect(answer.status).toBe(200)
  const lines = graph.log.filter(line => line.includes('service:app_launcher'))
  expect(lines.some(line => line.includes(`service:app_launcher in ${world.organizationId} for user:${world.memberId}`))).toBe(true)
  expect(graph.log.filter(line => line.includes(token))).toEqual([])
})

test('a stream that a service opened for a member ends within two seconds after the membership', async () => {
  const headers = asLauncher({ ...here(), 'x-on-behalf-of': world.memberId })
  const query = `subscription { postStatusChanged(brandId: "${world.brandId}") { id } }`
  const closed = Promise.withResolvers<{ readonly code: number; readonly reason: string }>()
  const connected = Promise.withResolvers<void>()
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: headers,
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
    on: { connected: () => connected.resolve(), closed: event => closed.resolve(event as { code: number; reason: string }) },
  })
  opened.defer(() => void client.dispose())
  await connected.promise
  client.subscribe({ query }, { next() {}, error() {}, complete() {} })
  const sse = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  })
  expect(sse.status).toBe(200)
  const whole = sse.text()
  await graph.rows('delete from identity.memberships where user_id = $1 and organization_id = $2', [world.memberId, world.organizationId])
  expect(await closed.promise).toMatchObject({ code: 4403, reason: 'rights changed' })
  expect(await whole).toContain('rights changed')
})
