import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownRows } from '../../../../router/rest/place.ts'
import { documentedAnswers } from '../../../../router/rest/row.ts'
import { routeTables } from '../../../../router/rest/tables.ts'
import { type Door, openDoor } from '../../../kit/door.ts'
import { countStatements } from '../../../kit/statements.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const password = 'correct horse battery'
const auth = '/identity/api/auth'

let graph: Supergraph
let door: Door

beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  await graph.platform.identity.provision({
    password,
    people: [{ email: 'ada@acme.test', name: 'Ada Both' }],
    organizations: [
      { slug: 'acme', name: 'Zeta', members: [{ email: 'ada@acme.test', roles: ['member'] }] },
      { slug: 'other', name: 'Alpha', members: [{ email: 'ada@acme.test', roles: ['viewer', 'admin'] }] },
    ],
    keys: [{ organization: 'acme', name: 'reader', scopes: ['publishing:posts.read'], createdBy: 'ada@acme.test' }],
  } as never)
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const bearer = () => door.signIn('ada@acme.test', password)
const personal = async (who: { authorization: string }) => {
  const query = 'mutation { switchContext(input: { context: PERSONAL }) { accessToken } }'
  const answer = await door.ask('POST', '/graphql', { headers: who, body: { query } })
  return { authorization: `Bearer ${answer.json.data.switchContext.accessToken}` }
}

describe('GET …/me', () => {
  test('P-20 returns the person, the context, and other possible contexts', async () => {
    const { status, json, headers } = await door.ask('GET', `${auth}/me`, { headers: await bearer() })
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    const { scopes, ...others } = json
    expect(others).toEqual({
      user: { id: expect.any(String), name: 'Ada Both', email: 'ada@acme.test', emailVerified: true, image: null, kind: 'human' },
      session: { id: expect.any(String), kind: 'password', expiresAt: expect.any(String) },
      context: 'organization',
      organization: { id: expect.any(String), slug: 'acme', name: 'Zeta' },
      roles: ['member'],
      organizations: [
        { id: expect.any(String), slug: 'other', name: 'Alpha', roles: ['viewer', 'admin'] },
        { id: expect.any(String), slug: 'acme', name: 'Zeta', roles: ['member'] },
      ],
      recoveryEmail: { email: null, status: 'none', verifiedAt: null, pendingEmail: null },
    })
    expect(scopes).toContain('publishing:posts.write')
  })

  test('returns personal context without organization and roles', async () => {
    const { json } = await door.ask('GET', `${auth}/me`, { headers: await personal(await bearer()) })
    expect(json).toMatchObject({ context: 'personal', organization: null, roles: [] })
    expect(json.organizations).toHaveLength(2)
    expect(json.scopes.every((scope: string) => scope.startsWith('launcher:'))).toBe(true)
  })

  test('is for people only: 401 without one, which is never cached', async () => {
    const nobody = await door.ask('GET', `${auth}/me`)
    expect([nobody.status, nobody.headers['cache-control']]).toEqual([401, 'no-store'])
  })

  test('costs as many statements in any number of organizations', async () => {
    const headers = await bearer()
    const ask = () => door.ask('GET', `${auth}/me`, { headers })
    await ask()
    expect((await countStatements(ask)).statements.filter(text => !/pg_|pgboss|identity_jobs/.test(text)).length).toBeLessThanOrEqual(4)
  })
})

describe('GET …/apps', () => {
  test('P-20 lists the services that people may open in the active context, by title; the launcher can filter households', async () => {
    const headers = await bearer()
    const { status, json } = await door.ask('GET', `${auth}/apps`, { headers })
    expect([status, json.context]).toEqual([200, 'organization'])
    const titles = json.apps.map(({ title }: { title: string }) => title)
    expect(titles).toEqual(titles.toSorted())
    expect(json.apps.map(({ slug }: { slug: string }) => slug)).not.toContain('identity')
    for (const app of json.apps) expect(Object.keys(app)).toEqual(['id', 'slug', 'title', 'icon', 'url', 'contexts', 'capabilities', 'kind'])
    expect(json.apps.find(({ slug }: { slug: string }) => slug === 'launcher').capabilities).toEqual(['household_capable'])
    const mine = (await door.ask('GET', `${auth}/apps`, { headers: await personal(headers) })).json
    expect([mine.context, mine.apps.map(({ slug }: { slug: string }) => slug)]).toEqual(['personal', ['launcher']])
  })
})

describe('routes that publishing and the launcher forward to identity', () => {
  const hosts = ['publishing.localhost', 'launcher.localhost']
  const own = ownRows(routeTables)
  /** Every exchange of identity's rows below `/api/auth`, as the tables have them. */
  const passed = routeTables
    .filter(({ slug }) => slug === 'identity')
    .flatMap(({ rows }) => rows)
    .filter(({ path }) => path.startsWith('/api/auth/'))
    .flatMap(row =>
      row.path.endsWith('/*') && row.kind === 'forward'
        ? documentedAnswers(row).map(({ at = 'GET /' }) => ({ method: at.split(' ')[0]!, path: `/api/auth${at.split(' ')[1]!}` }))
        : [{ method: row.method.replace('*', 'GET'), path: row.path }],
    )

  test('the marketing host forwards what its admin session needs, and names the address of all else', async () => {
    const host = 'marketing.launcher.localhost'
    const entered = await door.ask('POST', '/api/auth/sign-in/email', {
      headers: { host },
      body: { email: 'ada@acme.test', password },
    })
    expect(entered.status).toBe(200)
    for (const [method, path] of [
      ['POST', '/sign-up/email'],
      ['POST', '/request-password-reset'],
      ['GET', '/jwks'],
      ['GET', '/me/recovery-email'],
      ['GET', '/apps'],
      ['GET', '/oauth2/authorize'],
      ['POST', '/sign-in/email/'],
    ] as const) {
      const answer = await door.ask(method, `/api/auth${path}`, { headers: { host, ...(await bearer()) }, ...(method === 'POST' && { body: {} }) })
      expect([answer.status, answer.json?.code, answer.headers['content-type']], path).toEqual([404, 'NOT_FOUND', expect.stringContaining('problem+json')])
      expect(answer.json.address, path).toMatch(/^http:\/\/(?!marketing)[^/]+\/.*api\/auth\//)
    }
  })

  test('P-20 every row of identity’s answers on their web hosts as on its own path', async () => {
    expect(passed.length).toBeGreaterThan(5)
    // Authorization is begun where the session is: any other host leads there.
    for (const { method, path } of passed.filter(each => each.path !== '/api/auth/oauth2/authorize')) {
      const sent = { headers: { 'x-request-id': 'the-same' }, ...(method !== 'GET' && { body: {} }) }
      const there = await door.ask(method, `/identity${path}`, sent)
      const answers = await Promise.all(hosts.map(host => door.ask(method, path, { ...sent, headers: { ...sent.headers, host } })))
      for (const { status, json, headers } of answers)
        expect([path, status, json?.code, json?.error, headers['cache-control']]).toEqual([
          path,
          there.status,
          there.json?.code,
          there.json?.error,
          there.headers['cache-control'],
        ])
    }
  })

  test('sign in with that host’s own cookie, which is valid there', async () => {
    for (const host of [...hosts, 'marketing.launcher.localhost']) {
      const origin = graph.publicUrl
      const body = { email: 'ada@acme.test', password }
      const entered = await door.ask('POST', '/api/auth/sign-in/email', { headers: { host }, body })
      expect(entered.status).toBe(200)
      const [line] = [entered.headers['set-cookie']].flat() as string[]
      expect(line).not.toMatch(/Domain=/i)
      const cookie = line!.split(';')[0]!
      expect((await door.ask('GET', '/api/auth/me', { headers: { host, cookie } })).json.user.email).toBe('ada@acme.test')
      expect((await door.ask('GET', '/api/auth/token', { headers: { host, cookie } })).status).toBe(200)
      expect((await door.ask('POST', '/api/auth/sign-out', { headers: { host, cookie, origin: 'https://evil.test' } })).status).toBe(403)
      expect((await door.ask('POST', '/api/auth/sign-out', { headers: { host, cookie, origin } })).status).toBe(200)
      expect((await door.ask('GET', '/api/auth/me', { headers: { host, cookie } })).status).toBe(401)
    }
  })

  test.each(['localhost:4000', 'payments.localhost', 'agents.localhost', 'api.example', 'nobody.example'])('is no route on %s', async host => {
    for (const path of ['/api/auth/me', '/api/auth/jwks', '/publishing/api/auth/me', '/launcher/api/auth/jwks'])
      expect([path, (await door.ask('GET', path, { headers: { host } })).status]).toEqual([path, 404])
  })

  test('a row of the service itself comes first', () => {
    const row = { kind: 'forward', method: 'GET', path: '/api/auth/me' } as never
    const first = ownRows([{ slug: 'launcher', rows: [row] }])
    expect([first('launcher', 'GET', '/api/auth/me'), first('launcher', 'HEAD', '/api/auth/me')]).toEqual([true, true])
    const others = [
      ['launcher', 'POST', '/api/auth/me'],
      ['launcher', 'GET', '/api/auth/me/recovery-email'],
      ['publishing', 'GET', '/api/auth/me'],
    ] as const
    expect(others.map(([slug, method, path]) => first(slug, method, path))).toEqual([false, false, false])
    expect(own('publishing', 'GET', '/api/auth/me')).toBe(false)
  })
})
