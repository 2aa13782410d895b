import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Door, openDoor } from '../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'

const password = 'correct horse battery'
const auth = '/identity/api/auth'
const activity =
  '{ accountActivity(first: 50) { nodes { action actorKind user { id } organization { slug } targetType targetId ipAddress userAgent details { key value } } } }'

describe('the audit log of a person’s account', () => {
  let graph: Supergraph
  let door: Door
  let since: Date
  let userId: string
  beforeAll(async () => {
    graph = await supergraph({ now: new Date().toISOString() })
    door = await openDoor(graph)
    const { users } = await graph.platform.identity.provision({
      password,
      people: ['owner', 'other'].map(name => ({ email: `${name}@acme.test`, name })),
      organizations: [{ slug: 'acme', name: 'Acme', members: [{ email: 'owner@acme.test', roles: ['owner'] }] }],
      keys: [],
    } as never)
    userId = users['owner@acme.test']!
  })
  // Past every count of the test before.
  beforeEach(async () => {
    await graph.clock.advance(16 * 60_000)
    since = graph.clock.in(0)
  })
  afterAll(async () => {
    await door[Symbol.asyncDispose]()
    await graph[Symbol.asyncDispose]()
  })

  /** Each a second after what was before: what happens within one millisecond stands in no order. */
  const signIn = async (email = 'owner@acme.test', secret = password) => {
    await graph.clock.advance(1000)
    const answer = await door.ask('POST', `${auth}/sign-in/email`, { headers: { 'user-agent': 'walker/2' }, body: { email, password: secret } })
    await graph.clock.advance(1000)
    return answer
  }
  const seen = async (token: string) =>
    (await door.ask('POST', '/graphql', { headers: { authorization: `Bearer ${token}` }, body: { query: activity } })).json.data.accountActivity.nodes
  const told = async () => {
    const text = 'select action from identity.audit_entries where person_id = $1 and at >= $2 order by at, id'
    return (await graph.rows<{ action: string }>(text, [userId, since])).map(({ action }) => action)
  }

  test('contains a sign-in and its end, with session, address and method', async () => {
    const { json } = await signIn()
    const [began] = await seen(json.accessToken)
    const [session] = await graph.rows<{ id: string }>('select id from identity.sessions where user_id = $1 order by created_at desc limit 1', [userId])
    expect(began).toEqual({
      action: 'session.created',
      actorKind: 'USER',
      user: { id: userId },
      organization: { slug: 'acme' },
      targetType: 'session',
      targetId: session!.id,
      ipAddress: '127.0.0.1',
      userAgent: 'walker/2',
      details: [{ key: 'kind', value: 'password' }],
    })
    await door.ask('POST', `${auth}/sign-out`, { headers: { authorization: `Bearer ${json.accessToken}` } })
    expect(await told()).toEqual(['session.created', 'session.revoked'])
    // Whoever is signed out of a session that is over has ended nothing.
    await door.ask('POST', `${auth}/sign-out`, { headers: { authorization: `Bearer ${json.accessToken}` } })
    expect(await told()).toEqual(['session.created', 'session.revoked'])
  })

  test('contains a sign-out by cookie, once', async () => {
    const answer = await signIn()
    const cookie = String(answer.headers['set-cookie']).split(';')[0]!
    const out = () => door.ask('POST', `${auth}/sign-out`, { headers: { cookie, origin: 'http://localhost:4000' } })
    expect([(await out()).status, await told()]).toEqual([200, ['session.created', 'session.revoked']])
    await out()
    expect(await told()).toEqual(['session.created', 'session.revoked'])
  })

  test('tells of passwords that were wrong for accounts that there are, to their person alone', async () => {
    for (const email of ['owner@acme.test', ' Owner@acme.test'.trim(), 'nobody@acme.test']) expect((await signIn(email, 'wrong password')).status).toBe(401)
    await expect.poll(told).toEqual(['session.refused', 'session.refused'])
    const { json } = await signIn()
    const nodes = await seen(json.accessToken)
    expect(nodes.slice(0, 3).map((each: { action: string }) => each.action)).toEqual(['session.created', 'session.refused', 'session.refused'])
    expect(nodes[1]).toMatchObject({ actorKind: 'ANONYMOUS', user: null, organization: null, targetType: 'user', targetId: userId, ipAddress: '127.0.0.1' })
    expect(await seen((await signIn('other@acme.test')).json.accessToken)).toHaveLength(1)
    // Nothing stands anywhere of the address that is nobody's.
    expect(await graph.rows(`select from identity.audit_entries e where e::text like '%nobody@%'`)).toEqual([])
  })

  test('contains at most ten of them in a quarter of an hour', async () => {
    for (let count = 0; count < 13; count += 1) {
      await signIn('owner@acme.test', 'wrong password')
      await graph.clock.advance(30_000)
    }
    await expect.poll(async () => (await told()).length).toBeGreaterThanOrEqual(10)
    await signIn('owner@acme.test', 'wrong password')
    await graph.clock.advance(15 * 60_000)
    expect((await told()).length).toBe(10)
    await signIn('owner@acme.test', 'wrong password')
    await expect.poll(async () => (await told()).length).toBe(11)
  })
})
