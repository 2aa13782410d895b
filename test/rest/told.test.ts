import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOfSecret } from '../../platform/cipher.ts'
import { describePlatform } from '../../router/openapi/platform.ts'
import { documentedAnswers, pathOf } from '../../router/rest/row.ts'
import { routeTables } from '../../router/rest/tables.ts'
import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { solve } from '../subgraphs/agents/chat/visitor.ts'
import { seedPlatformApps } from '../subgraphs/launcher/catalog/seed.ts'
import { signatureOf } from '../subgraphs/payments/events/stage.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is looked at path by path
type Json = any
const document: Json = describePlatform().document

let graph: Supergraph
let door: Door
beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const seen = new Set<string>()
/** A browser that decides about cookies. */
const subjectId = 'f5b7a1de-6f0b-4bb5-9d43-0a3f3a3c9c11'

/** Asks a forwarded row; what it answers has to be told of its operation: status, media type and headers. */
async function answered(at: string, headers: Record<string, string> = {}, body?: string | Buffer | object, query = ''): Promise<Reply> {
  const [method, path] = at.split(' ') as [string, string]
  seen.add(at)
  const form = typeof body === 'string' && { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await door.ask(
    method,
    path
      .replace('{platform}', 'x')
      .replace('{slug}', 'publishing')
      .replace('{app}', 'agents')
      .replace('{variant}', 'original')
      .replace('{subjectId}', subjectId) + query,
    {
      headers: { ...form, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? Buffer.from(body) : body }),
    },
  )
  const { responses } = document.paths[path][method.toLowerCase()]
  const found = responses[answer.status]
  expect(found, `${at} answers ${answer.status}: ${answer.text.slice(0, 200)}`).toBeDefined()
  const told = found.$ref ? document.components.responses[found.$ref.split('/').at(-1)] : found
  const type = String(answer.headers['content-type'] ?? '').split(';')[0]!
  expect(answer.text === '' ? [] : [type], `${at} ${answer.status}`).toEqual(
    answer.text === '' ? [] : Object.keys(told.content ?? {}).filter(each => each === type),
  )
  for (const name of Object.keys(told.headers ?? {})) expect(answer.headers, `${at} ${answer.status}`).toHaveProperty(name.toLowerCase())
  return answer
}

const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
const account = { email: 'ada@test.test', password: 'correct horse battery' }
const cookieOf = ({ headers }: Reply) =>
  [headers['set-cookie']]
    .flat()
    .map(line => String(line).split(';')[0])
    .join('; ')

test('the store and icons of apps answer as documented', async () => {
  await seedPlatformApps(graph)
  const store = '/launcher/api/store'
  expect((await answered(`GET ${store}/apps`)).json).toMatchObject({ apps: [], nextCursor: null, totalCount: 0, source: 'local' })
  expect((await answered(`GET ${store}/apps`, {}, undefined, '?first=many')).status).toBe(400)
  expect((await answered(`GET ${store}/search`, {}, undefined, '?q=route')).json).toEqual({ apps: [], source: 'local' })
  expect((await answered(`GET ${store}/apps/{app}`)).status).toBe(404)
  expect((await answered('GET /launcher/icons/{app}')).headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=3600' })
})

test('links to native apps, and the files by which phones know them, answer as documented', async () => {
  expect((await answered('GET /launcher/launch/{serviceId}', {}, undefined, `?code=${'x'.repeat(43)}`)).status).toBe(400)
  expect((await answered('GET /.well-known/apple-app-site-association')).json).toEqual({ applinks: { details: [] } })
  expect((await answered('GET /.well-known/assetlinks.json')).json).toEqual([])
})

test('what apps of third parties ask of widgets answers as documented', async () => {
  expect((await answered('GET /launcher/api/widgets/keys')).json.keys).toHaveLength(1)
  expect((await answered('POST /launcher/api/widgets/changed', {}, {})).status).toBe(401)
  expect((await answered('POST /launcher/api/widgets', {}, {})).status).toBe(401)
})

test('what is sold, and what others report to the launcher, answers as documented', async () => {
  const api = '/launcher/api'
  expect((await answered(`GET ${api}/plans`)).json.plans).toHaveLength(4)
  expect((await answered(`GET ${api}/push/key`)).json.publicKey).toMatch(/^[\w-]{87}$/)
  expect((await answered(`POST ${api}/checkout`, {}, {})).status).toBe(400)
  expect((await answered(`POST ${api}/webhooks/subscriptions`, {}, {})).status).toBe(400)
  expect((await answered(`POST ${api}/notifications/events`, {}, {})).status).toBe(401)
  expect((await answered(`GET ${api}/auth/me`)).status).toBe(401)
  expect((await answered(`GET ${api}/auth/me/recovery-email`)).status).toBe(401)
})

test('forms of the marketing site answer as documented', async () => {
  const api = '/launcher/api'
  const solution = async () => solve((await answered(`GET ${api}/challenge`)).json)
  const contact = { kind: 'contact', name: 'Vera', email: 'vera@example.com', message: 'Hello' }
  expect((await answered(`POST ${api}/contact`, {}, { ...contact, solution: await solution() })).status).toBe(202)
  expect((await answered(`POST ${api}/contact`, {}, contact)).status).toBe(403)
  expect((await answered(`POST ${api}/contact`, {}, {})).status).toBe(400)
  expect((await answered(`POST ${api}/waitlist`, {}, { email: 'vera@example.com', solution: await solution() })).status).toBe(202)
  const { slots } = (await answered(`GET ${api}/demo-slots`)).json
  const demo = { startsAt: slots.at(-1).startsAt, purpose: 'demo', name: 'Vera', email: 'vera@example.com' }
  expect((await answered(`POST ${api}/demo-bookings`, {}, { ...demo, solution: await solution() })).status).toBe(201)
  expect((await answered(`POST ${api}/demo-bookings`, {}, { ...demo, solution: await solution() })).status).toBe(409)
  expect((await answered(`POST ${api}/demo-bookings/cancel`, {}, { code: 'none' })).status).toBe(400)
  const code = randomBytes(32).toString('base64url')
  await graph.rows('update launcher.leads set code_hash = $1 where is_booked', [hashOfSecret(code)])
  expect((await answered(`POST ${api}/demo-bookings/cancel`, {}, { code })).json).toEqual({})
  const decision = { subjectId, decision: 'decline', policyVersion: '1', decidedAt: '2026-03-01T11:00:00Z' }
  expect((await answered(`PUT ${api}/consent`, {}, decision)).json).toMatchObject({ decision: 'decline', syncState: 'local' })
  expect((await answered(`GET ${api}/consent/{subjectId}`)).json).toMatchObject({ subjectId, analytics: false })
  expect((await answered(`POST ${api}/admin/session`, {}, { code: 'none' })).status).toBe(400)
})

test('the pages of the first account answer as documented', async () => {
  const at = 'POST /identity/setup'
  const link = await graph.platform.identity.openSetup()
  const code = new URL(link!, graph.publicUrl).searchParams.get('code')!
  const whole = { code, organization: 'Acme', name: 'Ada', ...account }
  expect((await answered('GET /identity/setup', {}, undefined, `?code=${code}`)).status).toBe(200)
  expect((await answered('GET /identity/setup', {}, undefined, '?code=guessed')).status).toBe(410)
  expect((await answered(at, {}, form({ ...whole, code: 'guessed' }))).status).toBe(410)
  expect((await answered(at, {}, form({ ...whole, password: 'short' }))).status).toBe(400)
  expect((await answered(at, {}, form({ ...whole, name: 'x'.repeat(20_000) }))).status).toBe(413)
  expect((await answered(at, {}, form(whole))).status).toBe(201)
})

test('the sign-in page answers as documented', async () => {
  const at = 'POST /identity/login'
  const page = await answered('GET /identity/login')
  const [token, cookie] = [/name="token" value="([^"]+)"/.exec(page.text)![1]!, cookieOf(page)]
  expect((await answered(at, { cookie }, form(account))).status).toBe(400)
  expect((await answered(at, { cookie }, form({ ...account, token, password: 'wrong' }))).status).toBe(401)
  expect((await answered(at, { cookie }, form({ ...account, token }))).status).toBe(303)
  expect((await answered(at, { cookie }, form({ token, signOut: '' }))).status).toBe(200)
  const others = { cookie, 'x-forwarded-for': '192.0.2.1' }
  let last = 0
  for (let turn = 0; turn < 12; turn++) last = (await answered(at, others, form({ token, email: 'nobody@test.test', password: 'wrong' }))).status
  expect(last).toBe(429)
})

test('sign-in, sign-out, tokens and keys are answered as documented', async () => {
  const signIn = 'POST /identity/api/auth/sign-in/email'
  expect((await answered(signIn, {}, { email: account.email })).status).toBe(400)
  expect((await answered(signIn, {}, { ...account, password: 'wrong' })).status).toBe(401)
  const session = await answered(signIn, {}, account)
  expect((await answered('GET /identity/api/auth/token')).status).toBe(401)
  expect((await answered('GET /identity/api/auth/token', { cookie: cookieOf(session) })).status).toBe(200)
  expect((await answered('GET /identity/api/auth/jwks')).status).toBe(200)
  for (const at of ['GET /identity/api/auth/me', 'GET /identity/api/auth/apps', 'GET /launcher/api/auth/me', 'GET /launcher/api/auth/me/recovery-email']) {
    expect((await answered(at)).status).toBe(401)
    expect((await answered(at, { cookie: cookieOf(session) })).status).toBe(200)
  }
  const signOut = 'POST /identity/api/auth/sign-out'
  expect((await answered(signOut, { authorization: 'Bearer none' })).status).toBe(401)
  expect((await answered(signOut, { cookie: cookieOf(session), origin: 'https://elsewhere.example' })).status).toBe(403)
  expect((await answered(signOut, { authorization: `Bearer ${session.json.accessToken}` })).status).toBe(200)
  expect(document.paths['/identity/api/auth/sign-out'].post.security).toEqual([{ cookie: [] }, { bearer: [] }])
})

test('account routes are answered as documented, by page and by program', async () => {
  const auth = '/identity/api/auth'
  for (const page of ['sign-up', 'verify-email', 'reset-password']) expect((await answered(`GET /identity/${page}`)).status, page).toBe(200)
  for (const page of ['verify-email', 'reset-password', 'verify-recovery-email']) {
    expect((await answered(`GET /identity/${page}`, {}, undefined, '?code=guessed')).status, page).toBe(410)
    const sent = await answered(`GET /identity/login`)
    expect((await answered(`POST /identity/${page}`, { cookie: cookieOf(sent) }, form({ code: 'guessed' }))).status, page).toBe(400)
  }
  expect((await answered('POST /identity/sign-up', {}, form({ token: 'guessed' }))).status).toBe(400)
  const fresh = { email: 'bea@test.test', password: 'neither short nor common, this', name: 'Bea' }
  expect((await answered(`POST ${auth}/sign-up/email`, {}, fresh)).status).toBe(202)
  expect((await answered(`POST ${auth}/sign-up/email`, {}, { ...fresh, password: 'short' })).status).toBe(400)
  for (const row of ['send-verification-email', 'request-password-reset'])
    expect((await answered(`POST ${auth}/${row}`, {}, { email: fresh.email })).status, row).toBe(202)
  for (const row of ['verify-email', 'verify-recovery-email', 'reset-password'])
    expect((await answered(`POST ${auth}/${row}`, {}, { code: 'guessed', newPassword: fresh.password })).status, row).toBe(400)

  const { json } = await answered(`POST ${auth}/sign-in/email`, {}, account)
  const bearer = { authorization: `Bearer ${json.accessToken}` }
  const [own, recovery] = [{ currentPassword: account.password }, `${auth}/me/recovery-email`]
  const [email, newEmail] = ['recovery@test.test', 'ada.else@test.test']
  expect((await answered(`GET ${recovery}`)).status).toBe(401)
  expect((await answered(`PUT ${recovery}`, bearer, { ...own, email: account.email })).status).toBe(400)
  expect((await answered(`PUT ${recovery}`, bearer, { ...own, email })).status).toBe(200)
  expect((await answered(`GET ${recovery}`, bearer)).json).toMatchObject({ email, status: 'pending' })
  expect((await answered(`DELETE ${recovery}`, bearer)).status).toBe(204)
  expect((await answered(`POST ${auth}/change-email`, bearer, { ...own, newEmail })).status).toBe(202)
  expect((await answered(`POST ${auth}/change-password`, bearer, { currentPassword: 'wrong', newPassword: fresh.password })).status).toBe(403)
  expect((await answered(`POST ${auth}/change-password`, bearer, { ...own, newPassword: account.email })).status).toBe(400)
})

test('handoffs and their exchange are answered as documented', async () => {
  const [make, exchange] = ['POST /identity/api/auth/handoff', 'POST /identity/api/auth/sso/exchange']
  const session = await answered('POST /identity/api/auth/sign-in/email', {}, account)
  const bearer = { authorization: `Bearer ${session.json.accessToken}` }
  expect((await answered(make, {}, { service: 'publishing' })).status).toBe(401)
  expect((await answered(make, bearer, { service: 'publishing', returnTo: '//elsewhere.example' })).status).toBe(400)
  expect((await answered(make, bearer, { service: 'nowhere' })).status).toBe(404)
  expect((await answered(make, bearer, { service: 'identity' })).status).toBe(409)
  const { status, json } = await answered(make, bearer, { service: 'publishing' })
  expect(status).toBe(201)
  expect((await answered(exchange, { cookie: cookieOf(session), origin: 'https://elsewhere.example' }, { code: json.code })).status).toBe(403)
  expect((await answered(exchange, {}, { code: json.code, serviceId: json.service.id })).status).toBe(200)
  expect((await answered(exchange, {}, { code: json.code, serviceId: json.service.id })).status).toBe(400)
})

test('invitations are answered as documented, by link and by program', async () => {
  const accept = 'POST /identity/api/auth/accept-invitation'
  expect((await answered(accept, {}, { code: 'x'.repeat(43), name: 'Ada', password: account.password })).status).toBe(400)
  const [show, send] = ['GET /identity/invitation', 'POST /identity/invitation']
  expect((await answered(show)).status).toBe(200)
  expect((await answered(show, {}, undefined, '?code=guessed')).status).toBe(410)
  expect((await answered(send, {}, form({ code: 'guessed' }))).status).toBe(410)
  expect((await answered(send, {}, form({ accept: 'x' }))).status).toBe(401)
})

test('authorization, consent and tokens are answered as documented', async () => {
  const at = '/identity/api/auth/oauth2'
  const discovery = [await answered('GET /.well-known/openid-configuration'), await answered('GET /.well-known/oauth-authorization-server')]
  expect(discovery.map(({ status }) => status)).toEqual([200, 200])
  expect((await answered(`GET ${at}/authorize`)).status).toBe(400)
  expect((await answered(`POST ${at}/authorize`, {}, form({ client_id: 'nobody' }))).status).toBe(400)
  expect((await answered(`POST ${at}/consent`, {}, {})).status).toBe(403)
  expect((await answered(`POST ${at}/consent`, { origin: graph.publicUrl }, {})).status).toBe(401)
  for (const path of ['token', 'revoke', 'introspect']) expect((await answered(`POST ${at}/${path}`, {}, {})).status).toBe(400)
  for (const path of ['token', 'revoke', 'introspect'])
    expect(
      (await answered(`POST ${at}/${path}`, {}, form({ grant_type: 'refresh_token', refresh_token: 'none', token: 'none', client_id: 'nobody' }))).status,
    ).toBe(401)
  for (const method of ['GET', 'POST']) expect((await answered(`${method} ${at}/userinfo`)).status).toBe(401)
  for (const method of ['GET', 'POST']) expect((await answered(`${method} /identity/consent`, {}, method === 'POST' ? '' : undefined)).status).toBe(302)
})

test('delivery reports of mail servers are answered as documented', async () => {
  expect((await answered('POST /providers/api/email/events', {}, { type: 'bounce' })).status).toBe(401)
})

test('decisions of the settlement and policy service are answered as documented', async () => {
  expect((await answered('POST /agents/api/policy/decisions', {}, { type: 'policy.decided', data: {} })).status).toBe(401)
})

test('events of the payment processor are answered as the REST document tells', async () => {
  const body = { id: 'evt_told', type: 'product.created', created: Math.floor(graph.clock.now().getTime() / 1000), data: { object: { id: 'prod_told' } } }
  const signed = { 'stripe-signature': signatureOf(JSON.stringify(body), graph.clock.now()) }
  expect(await answered('POST /payments/api/webhooks/stripe', signed, body)).toMatchObject({ status: 200, json: { received: true, duplicate: false } })
  expect((await answered('POST /payments/api/webhooks/stripe', {}, body)).status).toBe(400)
})

test('files of payments and pages of payment links are answered as the REST document tells', async () => {
  for (const at of ['GET /payments/api/invoices/{id}/pdf', 'GET /payments/api/transactions.csv']) expect((await answered(at)).status, at).toBe(401)
  for (const at of ['GET /payments/pay/{token}', 'GET /payments/pay/{token}/return']) expect((await answered(at)).status, at).toBe(404)
})

test('hooks of workflows are hidden from whoever guesses, as the REST document tells', async () => {
  expect((await answered('POST /agents/api/hooks/{code}', {}, { size: 3 })).status).toBe(404)
})

test('links of approvals are answered alike whatever code is guessed, as the REST document tells', async () => {
  expect((await answered('GET /agents/approval')).status).toBe(400)
  expect((await answered('POST /agents/api/approvals/link', {}, { code: 'guessed' })).json).toMatchObject({ status: 400, reason: 'CODE' })
})

test('the public chat, exports and files of disputes are answered as the REST document tells', async () => {
  const chat = '/agents/api/public/chat'
  for (const at of [`GET ${chat}/challenge`, `GET ${chat}/personas`]) expect((await answered(at, {}, undefined, '?site=nowhere')).status, at).toBe(404)
  for (const at of [`POST ${chat}`, `POST ${chat}/feedback`]) expect((await answered(at, {}, {})).status, at).toBe(400)
  expect((await answered('GET /agents/api/person-profiles/{id}/export')).status).toBe(401)
  expect((await answered('POST /payments/api/disputes/{id}/files')).status).toBe(401)
})

test('calls of models are refused to strangers as the REST document tells', async () => {
  const asked = ['completions', 'chat/completions', 'transcriptions', 'audio/transcriptions', 'images', 'images/generations', 'embeddings']
  for (const at of [...asked.map(path => `POST /providers/api/ai/${path}`), 'GET /providers/api/ai/models', 'GET /providers/api/ai/models/{name}'])
    expect(await answered(at)).toMatchObject({
      status: 401,
      json: { code: 'UNAUTHENTICATED', error: { type: 'authentication_error', code: 'invalid_api_key' } },
    })
})

test('every forwarded route is requested here', async () => {
  expect((await answered('GET /payments/api/service-identity')).status).toBe(200)
  expect((await answered('GET /payments/login')).status).toBe(302)
  expect((await answered('POST /payments/api/session', {}, { code: 'guessed' })).status).toBe(400)
  for (const at of ['GET {}/youtube/v3/channels', 'POST {}/upload/youtube/v3/videos', 'PUT {}/upload/youtube/v3/videos'])
    expect((await answered(at.replace('{}', '/providers/platform/youtube'))).status).toBe(401)
  const service = 'GET /identity/api/services/{slug}'
  const { status, headers } = await answered(service)
  expect(status).toBe(200)
  expect((await answered(service, { 'if-none-match': String(headers.etag) })).status).toBe(304)
  for (const method of ['GET', 'POST']) expect((await answered(`${method} /publishing/api/integrations/{platform}/callback`)).status).toBe(400)
  expect((await answered('GET /publishing/api/analytics.csv')).status).toBe(401)
  expect((await answered('GET /publishing/calendar/{token}.ics')).status).toBe(404)
  // Without a configured application nothing can be signed.
  for (const event of ['deauthorize', 'data-deletion']) expect((await answered(`POST /publishing/api/callbacks/{platform}/${event}`)).status).toBe(404)
  expect((await answered('GET /publishing/data-deletion/{code}')).status).toBe(404)
  expect((await answered('GET /publishing/media/{id}/{variant}')).status).toBe(403)
  const { json } = await answered('POST /identity/api/auth/sign-in/email', {}, account)
  const [member, tus, nobodys] = [{ authorization: `Bearer ${json.accessToken}` }, { 'tus-resumable': '1.0.0' }, '01900000-0000-7000-8000-000000000000']
  const ofNobody = `?brandId=${nobodys}`
  for (const at of ['POST /publishing/api/media', 'POST /publishing/api/posts/import']) {
    expect((await answered(at)).status, at).toBe(401)
    const type = at.endsWith('media') ? 'image/png' : 'text/csv'
    expect((await answered(at, { ...member, 'content-type': type }, Buffer.from('x'), ofNobody)).status, at).toBe(404)
  }
  const knowledge = 'POST /agents/api/knowledge-sources/uploads'
  expect((await answered(knowledge)).status).toBe(401)
  expect((await answered(knowledge, { ...member, 'content-type': 'image/png' }, Buffer.from('x'), '?title=Rules')).status).toBe(400)
  const uploads = '/publishing/api/media/uploads'
  const length = { 'upload-length': '10', 'upload-metadata': `brandId ${Buffer.from(nobodys).toString('base64')}` }
  expect((await answered(`POST ${uploads}`, { ...tus, ...length })).status).toBe(401)
  expect((await answered(`POST ${uploads}`, { ...member, ...tus, ...length })).status).toBe(404)
  expect((await answered(`POST ${uploads}`, { ...member, ...length })).status).toBe(412)
  for (const method of ['PATCH', 'DELETE']) expect((await answered(`${method} ${uploads}/{id}`, { ...member, ...tus })).status, method).toBe(404)
  const rows = routeTables.flatMap(({ slug, rows }) =>
    rows.flatMap(row =>
      row.kind === 'operation'
        ? []
        : documentedAnswers(row).map(({ at }) =>
            at ? at.replace(' ', ` /${slug}${row.path.slice(0, -2)}`) : `${row.method} ${pathOf(slug, row).replaceAll(/:(\w+)/g, '{$1}')}`,
          ),
    ),
  )
  expect([...seen].sort()).toEqual(rows.sort())
})
