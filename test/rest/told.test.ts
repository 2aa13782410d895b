import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routeTables } from '../../router/rest/tables.ts'
import { type Door, openDoor, type Reply } from '../kit/door.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is looked at path by path
type Json = any
const document: Json = JSON.parse(readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8'))

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

/** Asks a forwarded row; what it answers has to be told of its operation: status, media type and headers. */
async function answered(at: string, headers: Record<string, string> = {}, body?: string | object, query = ''): Promise<Reply> {
  const [method, path] = at.split(' ') as [string, string]
  seen.add(at)
  const form = typeof body === 'string' && { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await door.ask(method, path.replace('{platform}', 'x') + query, {
    headers: { ...form, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? Buffer.from(body) : body }),
  })
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

test('the pages of the first account answer as the REST document tells', async () => {
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

test('the page of sign-in answers as the REST document tells', async () => {
  const at = 'POST /identity/login'
  const page = await answered('GET /identity/login')
  const [token, cookie] = [/name="token" value="([^"]+)"/.exec(page.text)![1]!, cookieOf(page)]
  expect((await answered(at, { cookie }, form(account))).status).toBe(400)
  expect((await answered(at, { cookie }, form({ ...account, token, password: 'wrong' }))).status).toBe(401)
  expect((await answered(at, { cookie }, form({ ...account, token }))).status).toBe(303)
  const others = { cookie, 'x-forwarded-for': '192.0.2.1' }
  let last = 0
  for (let turn = 0; turn < 12; turn++) last = (await answered(at, others, form({ token, email: 'nobody@test.test', password: 'wrong' }))).status
  expect(last).toBe(429)
})

test('signing in and out, tokens and keys are answered as the REST document tells', async () => {
  const signIn = 'POST /identity/api/auth/sign-in/email'
  expect((await answered(signIn, {}, { email: account.email })).status).toBe(400)
  expect((await answered(signIn, {}, { ...account, password: 'wrong' })).status).toBe(401)
  const session = await answered(signIn, {}, account)
  expect((await answered('GET /identity/api/auth/token')).status).toBe(401)
  expect((await answered('GET /identity/api/auth/token', { cookie: cookieOf(session) })).status).toBe(200)
  expect((await answered('GET /identity/api/auth/jwks')).status).toBe(200)
  const signOut = 'POST /identity/api/auth/sign-out'
  expect((await answered(signOut, { authorization: 'Bearer none' })).status).toBe(401)
  expect((await answered(signOut, { cookie: cookieOf(session), origin: 'https://elsewhere.example' })).status).toBe(403)
  expect((await answered(signOut, { authorization: `Bearer ${session.json.accessToken}` })).status).toBe(200)
  expect(document.paths['/identity/api/auth/sign-out'].post.security).toEqual([{ cookie: [] }, { bearer: [] }])
})

test('every row that is forwarded is asked here', async () => {
  expect((await answered('GET /payments/api/service-identity')).status).toBe(200)
  for (const method of ['GET', 'POST']) expect((await answered(`${method} /publishing/api/integrations/{platform}/callback`)).status).toBe(400)
  const rows = routeTables.flatMap(({ slug, rows }) =>
    rows.flatMap(row =>
      row.kind === 'operation'
        ? []
        : row.tells.map(({ at }) =>
            at ? at.replace(' ', ` /${slug}${row.path.slice(0, -2)}`) : `${row.method} /${slug}${row.path.replace(/:(\w+)/, '{$1}')}`,
          ),
    ),
  )
  expect([...seen].sort()).toEqual(rows.sort())
})
