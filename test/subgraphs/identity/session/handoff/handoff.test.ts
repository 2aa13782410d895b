import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import { anonymous, type Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Door, openDoor, type Reply } from '../../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { person, personally } from '../../../../kit/viewers.ts'

const password = 'correct horse battery'
const auth = '/identity/api/auth'
const create =
  'mutation($input: CreateHandoffInput!) { createHandoff(input: $input) { code expiresAt callbackUrl service { id slug title icon addresses { role url } } } }'

let graph: Supergraph
let door: Door
let owner: Viewer
let organizationId: string

beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  const { users, organizations } = await graph.platform.identity.provision({
    password,
    people: ['owner', 'peer'].map(name => ({ email: `${name}@acme.test`, name })),
    organizations: [{ slug: 'acme', name: 'Acme', members: ['owner', 'peer'].map(name => ({ email: `${name}@acme.test`, roles: ['owner'] })) }],
    keys: [],
  } as never)
  organizationId = organizations.acme!
  for (const [slug, origin] of Object.entries(origins))
    await graph.rows(`update identity.service_entries set addresses = addresses || $2::jsonb where slug = $1`, [
      slug,
      JSON.stringify({
        web: `${origin}/`,
        callback: `${origin}/callback`,
        ...Object.fromEntries(['api', 'dashboard', 'marketing'].map(role => [role, `${elsewhere(slug, role)}/`])),
      }),
    ])
  owner = { ...person(users['owner@acme.test']!, organizationId, ['owner']), sessionId: null }
})
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})
// What a test has made does not count for the next one.
beforeEach(() => graph.clock.advance(61_000))

const mint = async (input: object = {}, as = owner) =>
  (await graph.execute(create, { input: { service: 'publishing', ...input } }, { as })).data().createHandoff
/** Publishing is where cookies count in this graph, the launcher elsewhere. */
const origins = { publishing: 'http://localhost:4000', launcher: 'https://launcher.test' } as const
/** Where a service has other pages, and what is no page. */
const elsewhere = (slug: string, role: string) => `https://${role}.${slug}.test`
const originOf = (slug: keyof typeof origins) => origins[slug]
const exchange = (code: string, origin: string | null, { body = {}, headers = {} }: { body?: object; headers?: Record<string, string> } = {}) =>
  door.ask('POST', `${auth}/sso/exchange`, { headers: { ...(origin && { origin }), ...headers }, body: { code, ...body } })
const told = ({ status, json }: Reply) => [status, json?.code, json?.reason]
const usedUp = [400, 'BAD_USER_INPUT', 'CODE']
const signedIn = async (name: string) => {
  const answer = await door.ask('POST', `${auth}/sign-in/email`, { body: { email: `${name}@acme.test`, password } })
  const [cookie] = [answer.headers['set-cookie']].flat() as string[]
  return { authorization: `Bearer ${answer.json.accessToken}`, cookie: cookie!.split(';')[0]! }
}
const record = (handoffs = 'handoff.%') =>
  graph.rows<{ action: string; actor: string; details: object }>(
    `select action, actor, details, person_id as "personId" from identity.audit_entries where action like $1 and at = $2 order by action`,
    [handoffs, graph.clock.in(0)],
  )

describe('a handoff', () => {
  test('I-03 leads to the service’s callback with code and icon, and signs the same person in there, in the same organization, once', async () => {
    const made = await mint({ returnTo: '/posts?status=failed' })
    const url = new URL(made.callbackUrl)
    const callback = made.service.addresses.find(({ role }: { role: string }) => role === 'callback').url
    expect([`${url.origin}${url.pathname}`, url.searchParams.get('sso_code'), url.searchParams.get('icon')]).toEqual([callback, made.code, made.service.icon])
    expect([made.code.length, Date.parse(made.expiresAt)]).toEqual([43, graph.clock.in(60_000).getTime()])
    const done = await exchange(made.code, url.origin)
    const { id, slug, title, icon } = made.service
    expect([done.status, done.headers['cache-control'], done.json]).toEqual([
      200,
      'no-store',
      {
        accessToken: expect.any(String),
        expiresAt: expect.any(String),
        user: { id: owner.userId, email: 'owner@acme.test', name: 'owner' },
        service: { id, slug, title, icon },
        context: 'organization',
        organizationId,
        returnTo: '/posts?status=failed',
      },
    ])
    expect(String(done.headers['set-cookie'])).toMatch(/^identity\.session_token=.+Max-Age=604800.+HttpOnly; SameSite=Lax$/)
    const who = { query: '{ viewer { kind user { id } organization { id } roles } }' }
    const viewer = await door.ask('POST', '/graphql', { headers: { authorization: `Bearer ${done.json.accessToken}` }, body: who })
    expect(viewer.json.data.viewer).toEqual({ kind: 'USER', user: { id: owner.userId }, organization: { id: organizationId }, roles: ['OWNER'] })
    expect(told(await exchange(made.code, url.origin))).toEqual(usedUp)
    expect(await record()).toEqual([
      { action: 'handoff.created', actor: `user:${owner.userId}`, details: { service: 'publishing' }, personId: owner.userId },
      { action: 'handoff.exchanged', actor: `user:${owner.userId}`, details: { service: 'publishing', sessionId: expect.any(String) }, personId: owner.userId },
    ])
  })

  test('of 20 exchanges of one code at once a single one wins, and makes a single session', async () => {
    const { code } = await mint()
    const sessions = async () => (await graph.rows(`select from identity.sessions where kind = 'handoff' and user_id = $1`, [owner.userId])).length
    const before = await sessions()
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code, originOf('publishing'))))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(400)])
    expect((await sessions()) - before).toBe(1)
  })

  test.each([
    ['at another service', originOf('launcher'), {}],
    ['at another port', 'http://localhost:4001', {}],
    ['at its address for programs', elsewhere('publishing', 'api'), {}],
    ['at its marketing pages', elsewhere('publishing', 'marketing'), {}],
    ['elsewhere', 'https://evil.example', {}],
    ['from a page without an origin', 'null', {}],
    ['by a program that says for nobody', null, {}],
    ['by a program of another service', null, { serviceId: '01a20495-aa87-7035-9826-c05dbf69255c' }],
    ['by a program that sends something else', null, { serviceId: [1] }],
  ])('%s is worth nothing, and then nowhere', async (_, origin, body) => {
    const { code } = await mint()
    expect(told(await exchange(code, origin, { body }))).toEqual(usedUp)
    expect(told(await exchange(code, originOf('publishing')))).toEqual(usedUp)
    expect((await record('handoff.refused')).map(({ actor, details }) => [actor, details])).toEqual([
      ['anonymous', { service: 'publishing', reason: 'TARGET' }],
    ])
  })

  test('is rejected and used up in somebody else’s browser, but not in one’s own or with an invalid cookie', async () => {
    const [peer, own] = [await signedIn('peer'), await signedIn('owner')]
    const other = await mint()
    expect(told(await exchange(other.code, originOf('publishing'), { headers: { cookie: peer.cookie } }))).toEqual([409, 'CONFLICT', 'OTHER_USER'])
    expect(told(await exchange(other.code, originOf('publishing')))).toEqual(usedUp)
    expect((await record('handoff.refused')).map(({ details }) => details)).toEqual([{ service: 'publishing', reason: 'OTHER_USER' }])
    for (const cookie of [own.cookie, 'identity.session_token=forged.c2lnbmVk'])
      expect((await exchange((await mint()).code, originOf('publishing'), { headers: { cookie } })).status).toBe(200)
    // A cookie that another page sends along is refused before the code is looked at.
    const kept = await mint()
    expect((await exchange(kept.code, 'https://evil.example', { headers: { cookie: own.cookie } })).status).toBe(403)
    expect((await exchange(kept.code, originOf('publishing'))).status).toBe(200)
  })

  test('by a program that names its service gives it a session without a cookie, which ends with its token', async () => {
    const { code, service } = await mint()
    const done = await exchange(code, null, { body: { serviceId: service.id } })
    expect([done.status, done.headers['set-cookie']]).toEqual([200, undefined])
    const [session] = await graph.rows<{ expires_at: Date }>(
      `select expires_at from identity.sessions where kind = 'handoff' order by created_at desc, id desc limit 1`,
    )
    expect(session!.expires_at).toEqual(graph.clock.in(10 * 60_000))
  })

  test('is accepted on the pages and on the dashboard of its service', async () => {
    for (const origin of [originOf('publishing'), elsewhere('publishing', 'dashboard')]) expect((await exchange((await mint()).code, origin)).status).toBe(200)
  })

  test('expires after a minute, and an invented code is rejected', async () => {
    const { code } = await mint()
    await graph.clock.advance(60_000)
    for (const wrong of [code, 'x'.repeat(43), '', 7, null]) expect(told(await exchange(wrong as string, originOf('publishing')))).toEqual(usedUp)
  })

  test('ends with its parent session, with the membership, and with the account', async () => {
    const endings = [
      async () => {
        const { authorization } = await signedIn('owner')
        const made = await door.ask('POST', `${auth}/handoff`, { headers: { authorization }, body: { service: 'publishing' } })
        await door.ask('POST', `${auth}/sign-out`, { headers: { authorization } })
        return [made.json.code, () => Promise.resolve()] as const
      },
      async () => {
        const { code } = await mint()
        await graph.rows('update identity.users set suspended_at = $1 where id = $2', [graph.clock.in(0), owner.userId])
        return [code, () => graph.rows('update identity.users set suspended_at = null where id = $1', [owner.userId])] as const
      },
      async () => {
        const { code } = await mint()
        const [gone] = await graph.rows<{ row: string }>(
          `with gone as (delete from identity.memberships where user_id = $1 returning *) select to_jsonb(gone)::text as row from gone`,
          [owner.userId],
        )
        const back = `insert into identity.memberships select * from jsonb_populate_record(null::identity.memberships, $1::jsonb)`
        return [code, () => graph.rows(back, [gone!.row])] as const
      },
    ]
    for (const ending of endings) {
      const [code, restore] = await ending()
      expect(told(await exchange(code, originOf('publishing')))).toEqual(usedUp)
      await restore()
      expect(told(await exchange(code, originOf('publishing')))).toEqual(usedUp)
    }
  })

  test('is not used up when its exchange fails to commit', async () => {
    const { code } = await mint()
    await graph.rows(`alter table identity.sessions add constraint none check (kind <> 'handoff') not valid`)
    expect((await exchange(code, originOf('publishing'))).status).toBe(500)
    await graph.rows('alter table identity.sessions drop constraint none')
    expect((await exchange(code, originOf('publishing'))).status).toBe(200)
  })
})

describe('creating a handoff', () => {
  test('a person, or the launcher on behalf of one', async () => {
    const service = { ...owner, kind: 'service', roles: [], appId: 'app_launcher', onBehalfOf: owner.userId } as const
    const { code } = await mint({}, service)
    expect((await exchange(code, originOf('publishing'))).json.user.id).toBe(owner.userId)
    type Code = 'FORBIDDEN' | 'UNAUTHORIZED_FIELD_OR_TYPE'
    const refusals: [Viewer, Code][] = [
      [anonymous, 'UNAUTHORIZED_FIELD_OR_TYPE'],
      [{ ...anonymous, kind: 'apiKey', keyId: organizationId, organizationId, scopes: owner.scopes, context: 'organization' }, 'UNAUTHORIZED_FIELD_OR_TYPE'],
      [{ ...owner, clientId: 'phone', roles: [] }, 'UNAUTHORIZED_FIELD_OR_TYPE'],
      [{ ...service, appId: 'app_agents' }, 'FORBIDDEN'],
      [{ ...service, userId: null, onBehalfOf: null }, 'FORBIDDEN'],
      // Whoever has the token of the gateway may show it with the launcher's name.
      [{ ...service, onlyAt: 'providers' }, 'FORBIDDEN'],
    ]
    for (const [as, code] of refusals) (await graph.execute(create, { input: { service: 'publishing' } }, { as })).refused(code)
  })

  it('carries the session that the launcher names, so the code is worth nothing once that session ends', async () => {
    const service = { ...owner, kind: 'service', roles: [], appId: 'app_launcher', onBehalfOf: owner.userId } as const
    const { authorization } = await signedIn('owner')
    const [session] = await graph.rows<{ id: string }>('select id from identity.sessions where user_id = $1 order by created_at desc, id desc limit 1', [
      owner.userId,
    ])
    const sessionId = session!.id
    const one = await mint({ sessionId }, service)
    expect((await exchange(one.code, originOf('publishing'))).json.user.id).toBe(owner.userId)
    const two = await mint({ sessionId }, service)
    await door.ask('POST', `${auth}/sign-out`, { headers: { authorization } })
    expect(told(await exchange(two.code, originOf('publishing')))).toEqual(usedUp)
    // The session is over by now.
    expect((await graph.execute(create, { input: { service: 'publishing', sessionId } }, { as: service })).refused('BAD_USER_INPUT')).toMatchObject({
      extensions: { field: 'sessionId' },
    })
  })

  it("refuses a session of another person, one that is no id, and a person's own named with BAD_USER_INPUT", async () => {
    const service = { ...owner, kind: 'service', roles: [], appId: 'app_launcher', onBehalfOf: owner.userId } as const
    await signedIn('peer')
    const [foreign] = await graph.rows<{ id: string }>('select id from identity.sessions where user_id <> $1 order by created_at desc, id desc limit 1', [
      owner.userId,
    ])
    expect(foreign).toBeDefined()
    const tries: [Viewer, string][] = [
      [service, foreign!.id],
      [service, 'none'],
      [owner, foreign!.id],
    ]
    for (const [as, sessionId] of tries)
      expect((await graph.execute(create, { input: { service: 'publishing', sessionId } }, { as })).refused('BAD_USER_INPUT')).toMatchObject({
        extensions: { field: 'sessionId' },
      })
  })

  describe('read by its code', () => {
    const launcher = { ...anonymous, kind: 'service', appId: 'app_launcher' } as const
    const read = (code: string, as: Viewer = launcher) =>
      graph.execute('query($code: String!) { handoff(code: $code) { callbackUrl expiresAt service { slug } } }', { code }, { as })

    it('leads to its service as often as it is read, and is still exchanged once', async () => {
      const { code, callbackUrl, expiresAt } = await mint()
      const shown = { callbackUrl, expiresAt, service: { slug: 'publishing' } }
      expect([(await read(code)).data().handoff, (await read(code)).data().handoff]).toEqual([shown, shown])
      expect((await exchange(code, originOf('publishing'))).status).toBe(200)
      expect((await read(code)).data().handoff).toBeNull()
    })

    it('is null for an unknown code, after a minute, and once its session has ended', async () => {
      const { authorization } = await signedIn('owner')
      const [session] = await graph.rows<{ id: string }>('select id from identity.sessions where user_id = $1 order by created_at desc, id desc limit 1', [
        owner.userId,
      ])
      const ofSession = await mint({}, { ...owner, sessionId: session!.id })
      expect((await read(ofSession.code)).data().handoff).not.toBeNull()
      await door.ask('POST', `${auth}/sign-out`, { headers: { authorization } })
      expect((await read(ofSession.code)).data().handoff).toBeNull()
      const { code } = await mint()
      expect((await read('x'.repeat(43))).data().handoff).toBeNull()
      await graph.clock.advance(60_000)
      expect((await read(code)).data().handoff).toBeNull()
    })

    it('is refused to people, and to every other service', async () => {
      const { code } = await mint()
      ;(await read(code, owner)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
      ;(await read(code, { ...launcher, appId: 'app_publishing' })).refused('FORBIDDEN')
      ;(await read(code, { ...launcher, onlyAt: 'providers' })).refused('FORBIDDEN')
    })
  })

  test('requires a token that is not limited to one service, because it would grant rights elsewhere', async () => {
    const ask = `{ memberRights(userId: "${owner.userId}", organizationId: "${organizationId}") { scopes } }`
    const service = { ...anonymous, kind: 'service', appId: 'app_launcher' } as const
    expect((await graph.execute(ask, {}, { as: service })).data().memberRights.scopes).toContain('publishing:posts.read')
    ;(await graph.execute(ask, {}, { as: { ...service, onlyAt: 'providers' } })).refused('FORBIDDEN')
  })

  test('a service that people open in the active context, and a path of it', async () => {
    const refused = async (input: object, code: 'NOT_FOUND' | 'CONFLICT' | 'BAD_USER_INPUT', as = owner) =>
      (await graph.execute(create, { input: { service: 'publishing', ...input } }, { as })).refused(code)
    await refused({ service: 'nowhere' }, 'NOT_FOUND')
    await refused({ service: 'identity' }, 'CONFLICT')
    await refused({}, 'CONFLICT', personally(owner))
    for (const returnTo of ['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'posts', '', `/${'x'.repeat(2000)}`])
      await refused({ returnTo }, 'BAD_USER_INPUT')
    const personal = await mint({ service: 'launcher' }, personally(owner))
    expect((await exchange(personal.code, originOf('launcher'))).json).toMatchObject({ context: 'personal', organizationId: null, returnTo: null })
  })

  test('is limited to 30 within a minute, over all processes; expired ones are deleted', async () => {
    const all = await Promise.all(Array.from({ length: 33 }, () => graph.execute(create, { input: { service: 'publishing' } }, { as: owner })))
    const limited = all.filter(answer => answer.error?.extensions?.code === 'RATE_LIMITED')
    expect(limited).toHaveLength(3)
    expect(limited[0]!.error!.extensions!.retryAfter).toBe(60)
    await graph.clock.advance(60_000)
    await mint()
    expect(await graph.rows(`select from identity.codes where purpose = 'handoff' and subject = $1`, [owner.userId])).toHaveLength(1)
  })
})

describe('over REST', () => {
  test('a handoff is answered as in the graph, for people only', async () => {
    const { authorization } = await signedIn('owner')
    const made = await door.ask('POST', `${auth}/handoff`, { headers: { authorization }, body: { service: 'publishing', returnTo: '/x' } })
    expect([made.status, made.json]).toEqual([
      201,
      {
        code: expect.stringMatching(/^[\w-]{43}$/),
        expiresAt: graph.clock.in(60_000).toISOString(),
        callbackUrl: expect.stringContaining('sso_code='),
        service: { id: expect.any(String), slug: 'publishing', title: expect.any(String), icon: expect.any(String) },
      },
    ])
    expect((await exchange(made.json.code, originOf('publishing'))).json.returnTo).toBe('/x')
    expect((await door.ask('POST', `${auth}/handoff`, { body: { service: 'publishing' } })).status).toBe(401)
    expect(told(await door.ask('POST', `${auth}/handoff`, { headers: { authorization }, body: { service: 'identity' } }))).toEqual([
      409,
      'CONFLICT',
      'NOT_LAUNCHABLE',
    ])
  })
})

describe('the sign-in page for a service', () => {
  const open = async (query: string) => {
    const page = await door.ask('GET', `/identity/login?${query}`)
    const cookie = String(page.headers['set-cookie']).split(';')[0]!
    return { page, cookie, token: /name="token" value="([^"]+)"/.exec(page.text)![1]! }
  }
  const send = (fields: Record<string, string>, cookie: string) =>
    door.ask('POST', '/identity/login', {
      headers: { cookie, origin: 'http://localhost:4000', 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(new URLSearchParams(fields).toString()),
    })
  const credentials = { email: 'owner@acme.test', password }

  test('goes on to the service that is named by a handoff, with the path there; its form may lead to that origin and no other', async () => {
    const { page, cookie, token } = await open('service=launcher&return_to=%2Fposts')
    expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${originOf('launcher')};`)
    const answer = await send({ ...credentials, token, service: 'launcher', return_to: '/posts' }, cookie)
    const url = new URL(String(answer.headers.location))
    expect([answer.status, url.origin, String(answer.headers['set-cookie'])]).toEqual([
      303,
      originOf('launcher'),
      expect.stringContaining('identity.session_token='),
    ])
    expect((await exchange(url.searchParams.get('sso_code')!, originOf('launcher'))).json).toMatchObject({ returnTo: '/posts', organizationId })
  })

  test.each(['identity', 'nowhere', 'https://evil.example'])('goes on to no service that nobody opens: %s', async service => {
    const { page, cookie, token } = await open(`service=${encodeURIComponent(service)}&return_to=%2Fposts`)
    expect(page.headers['content-security-policy']).toContain(`form-action 'self';`)
    const answer = await send({ ...credentials, token, service, return_to: '/posts' }, cookie)
    expect([answer.status, answer.headers.location]).toEqual([303, '/'])
  })

  test('explains to a signed-in person why the handoff is rejected', async () => {
    for (let count = 0; count < 30; count += 1) await mint()
    const { cookie, token } = await open('service=publishing')
    const answer = await send({ ...credentials, token, service: 'publishing' }, cookie)
    expect([answer.status, answer.text]).toEqual([429, expect.stringContaining('You are signed in')])
    expect(String(answer.headers['set-cookie'])).toContain('identity.session_token=')
  })
})

describe('a session from a handoff', () => {
  /** A session by password, and one that a handoff begins from it, with their ids and how to use them. */
  async function chain() {
    const origin = await signedIn('owner')
    const id = await sessionOf(origin.authorization)
    const derived = await begin(id)
    return { origin, id, derived }
  }
  const sessionOf = async (authorization: string): Promise<string> =>
    (await door.ask('POST', '/graphql', { headers: { authorization }, body: { query: '{ viewer { session { id } } }' } })).json.data.viewer.session.id
  const begin = async (sessionId: string) => {
    const { code } = await mint({}, { ...owner, sessionId })
    const { json } = await exchange(code, originOf('publishing'))
    const authorization = `Bearer ${json.accessToken}`
    return { authorization, id: await sessionOf(authorization) }
  }
  const stand = async (...ids: string[]) => {
    const found = await graph.rows<{ id: string }>('select id from identity.sessions where id = any($1::uuid[])', [ids])
    return ids.map(id => found.some(each => each.id === id))
  }
  const change = (authorization: string, query: string) => door.ask('POST', '/graphql', { headers: { authorization }, body: { query } })

  it('ends with its parent session when that is signed out, and so do its own descendants', async () => {
    const { origin, id, derived } = await chain()
    const third = await begin(derived.id)
    await door.ask('POST', `${auth}/sign-out`, { headers: { authorization: origin.authorization } })
    expect(await stand(id, derived.id, third.id)).toEqual([false, false, false])
    const ended = await graph.rows<{ id: string }>(`select subject_id as id from identity.audit_entries where action = 'session.revoked' and at = $1`, [
      graph.clock.in(0),
    ])
    expect(ended.map(each => each.id).sort()).toEqual([id, derived.id, third.id].sort())
  })

  it('ends with its parent session when that is revoked, and its token is rejected', async () => {
    const { id, derived } = await chain()
    const other = await signedIn('owner')
    await change(other.authorization, `mutation { revokeSession(input: { id: "${id}" }) { id } }`)
    expect(await stand(id, derived.id, await sessionOf(other.authorization))).toEqual([false, false, true])
  })

  it('ends alone: its parent session continues', async () => {
    const { origin, id, derived } = await chain()
    await change(origin.authorization, `mutation { revokeSession(input: { id: "${derived.id}" }) { id } }`)
    expect(await stand(id, derived.id)).toEqual([true, false])
  })

  it('continues when its person ends all others from it', async () => {
    const { id, derived } = await chain()
    const { json } = await change(derived.authorization, 'mutation { revokeSessions(input: {}) { id } }')
    expect([json.errors, await stand(id, derived.id)]).toEqual([undefined, [false, true]])
  })

  it('is never valid when its parent ends during the exchange', async () => {
    for (let round = 0; round < 10; round += 1) {
      const origin = await signedIn('owner')
      const id = await sessionOf(origin.authorization)
      const { code } = await mint({}, { ...owner, sessionId: id })
      await Promise.all([exchange(code, originOf('publishing')), door.ask('POST', `${auth}/sign-out`, { headers: { authorization: origin.authorization } })])
      expect(await graph.rows('select from identity.sessions where id = $1 or origin_session_id = $1', [id])).toEqual([])
    }
  })

  it('does not displace its parent session when the maximum is reached', async () => {
    await graph.rows('delete from identity.sessions where user_id = $1', [owner.userId])
    const { origin, id, derived } = await chain()
    const values = Array.from({ length: 50 }, (_, at) => at)
    for (const at of values) {
      await graph.clock.advance(61_000)
      // Of fifty begun from it the oldest ends, not the one that all hang on.
      const last = await begin(id)
      if (at === values.length - 1) expect(await stand(id, derived.id, last.id)).toEqual([true, false, true])
    }
    expect(await sessionOf((await signedIn('owner')).authorization)).toEqual(expect.any(String))
    expect(origin.authorization).toContain('Bearer')
  }, 60_000)
})
