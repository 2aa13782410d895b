import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Viewer } from '../../../../../subgraphs/viewer.ts'
import { type Door, openDoor, type Reply } from '../../../../kit/door.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { person } from '../../../../kit/viewers.ts'

const at = '/launcher/api/admin/session'
const roles = { admin: ['platform_admin'], chief: ['platform_super_admin'], plain: ['owner'] } as const
type Name = keyof typeof roles

let graph: Supergraph
let door: Door
let viewers: Readonly<Record<Name | 'elsewhere', Viewer>>
beforeAll(async () => {
  graph = await supergraph({ now: new Date().toISOString() })
  door = await openDoor(graph)
  const { users, organizations } = await graph.platform.identity.provision({
    password: 'correct horse battery',
    people: Object.keys(roles).map(name => ({ email: `${name}@admin.test`, name })),
    organizations: [
      { slug: 'admin', name: 'Administration', members: Object.entries(roles).map(([name, own]) => ({ email: `${name}@admin.test`, roles: [...own] })) },
      { slug: 'acme', name: 'Acme', members: [{ email: 'admin@admin.test', roles: ['owner'] }] },
    ],
    keys: [],
  } as never)
  const viewer = (name: Name, slug = 'admin', own: readonly string[] = roles[name]): Viewer => ({
    ...person(users[`${name}@admin.test`]!, organizations[slug]!, own),
    sessionId: null,
  })
  await graph.rows(
    `update identity.service_entries set addresses = addresses || '{"callback":"https://launcher.test/callback","web":"https://publishing.test/"}'::jsonb`,
  )
  viewers = { admin: viewer('admin'), chief: viewer('chief'), plain: viewer('plain'), elsewhere: viewer('admin', 'acme', ['owner']) }
})
// What a test has made does not count for the next one.
beforeEach(() => graph.clock.advance(61_000))
afterAll(async () => {
  await door[Symbol.asyncDispose]()
  await graph[Symbol.asyncDispose]()
})

const mint = async (as: Viewer, service = 'launcher', returnTo?: string): Promise<string> => {
  const input = { service, ...(returnTo && { returnTo }) }
  const made = await graph.execute('mutation($input: CreateHandoffInput!) { createHandoff(input: $input) { code } }', { input }, { as })
  return made.data().createHandoff.code
}
const exchange = (code: unknown, headers: Record<string, string> = {}) => door.ask('POST', at, { headers, body: { code } })
const refusalOf = ({ status, json }: Reply) => [status, json?.code, json?.reason]
const usedUp = [400, 'BAD_USER_INPUT', 'CODE']
const sessions = async () => (await graph.rows(`select from identity.sessions where kind = 'handoff'`)).length

describe('POST /launcher/api/admin/session', () => {
  it.each(['admin', 'chief'] as const)('turns the code of a platform admin (%s) into a token without a cookie, once', async name => {
    const code = await mint(viewers[name], 'launcher', '/leads')
    const done = await exchange(code, { origin: graph.publicUrl })
    expect([done.status, done.headers['cache-control'], done.headers['set-cookie'], Object.keys(done.json)]).toEqual([
      200,
      'no-store',
      undefined,
      ['accessToken', 'expiresAt', 'returnTo'],
    ])
    expect(done.json.returnTo).toBe('/leads')
    const query = '{ leads { totalCount } }'
    const read = await door.ask('POST', '/graphql', { headers: { authorization: `Bearer ${done.json.accessToken}` }, body: { query } })
    expect(read.json.data).toEqual({ leads: { totalCount: 0 } })
    expect(refusalOf(await exchange(code, { origin: graph.publicUrl }))).toEqual(usedUp)
  })

  it('makes one session of twenty exchanges at once', async () => {
    const code = await mint(viewers.admin)
    const before = await sessions()
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await sessions()) - before).toBe(1)
  })

  it.each(['plain', 'elsewhere'] as const)('refuses anybody else (%s), makes no session and uses the code up', async name => {
    const before = await sessions()
    const code = await mint(viewers[name])
    expect(refusalOf(await exchange(code))).toEqual([403, 'FORBIDDEN', undefined])
    expect(refusalOf(await exchange(code))).toEqual(usedUp)
    expect(await sessions()).toBe(before)
  })

  it('refuses a page elsewhere, and the code is used up', async () => {
    const code = await mint(viewers.admin)
    expect(refusalOf(await exchange(code, { origin: 'https://evil.example' }))).toEqual([403, 'FORBIDDEN', undefined])
    expect(refusalOf(await exchange(code, { origin: graph.publicUrl }))).toEqual(usedUp)
  })

  it('refuses the code for another service, an unknown one, and what is none', async () => {
    expect(refusalOf(await exchange(await mint(viewers.plain, 'publishing')))).toEqual(usedUp)
    expect(refusalOf(await exchange(await mint(viewers.admin, 'publishing')))).toEqual(usedUp)
    for (const code of [randomBytes(32).toString('base64url'), 7, undefined]) expect(refusalOf(await exchange(code))).toEqual(usedUp)
  })

  it('refuses a code after its minute, and of an admin who is suspended meanwhile', async () => {
    const late = await mint(viewers.admin)
    await graph.clock.advance(60_000)
    expect(refusalOf(await exchange(late))).toEqual(usedUp)
    const code = await mint(viewers.chief)
    await graph.rows('update identity.users set suspended_at = $2 where id = $1', [viewers.chief.userId, graph.clock.now()])
    expect(refusalOf(await exchange(code))).toEqual(usedUp)
  })

  it('audits what was refused for the role', async () => {
    await exchange(await mint(viewers.plain))
    const [line] = await graph.rows(`select actor, details from identity.audit_entries where action = 'handoff.refused' order by at desc, id desc limit 1`)
    expect(line).toEqual({ actor: 'anonymous', details: { service: 'launcher', reason: 'ROLE' } })
  })
})
