import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stores } from '../../../../subgraphs/identity/context.ts'
import { auditRecording } from '../../../../subgraphs/identity/stores/audit-entry.ts'
import { record } from '../../../../subgraphs/store/books.ts'
import { contextsOf } from '../../../../subgraphs/store/context.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { openDoor } from '../../../kit/door.ts'
import { untold } from '../../../kit/identity.ts'
import { unbounded } from '../../../kit/reading.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'

const password = 'correct horse battery'
const logOf = `query($action: String, $userId: ID, $since: DateTime, $until: DateTime, $first: Int, $after: String) {
  auditLog(action: $action, userId: $userId, since: $since, until: $until, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { id at action actorKind user { id } apiKeyId appId organization { slug } targetType targetId ipAddress userAgent requestId details { key value } } } }`
const createKey = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id } } }'
type Told = Record<'actorKind' | 'appId' | 'apiKeyId', string | null> & { user: { id: string } | null }
const newKey = (name = 'One') => ({ input: { name, scopes: ['publishing:posts.read'] } })

describe('the audit log', () => {
  let graph: Supergraph
  beforeAll(async () => {
    graph = await supergraph({ now: new Date().toISOString() })
  })
  afterAll(() => graph[Symbol.asyncDispose]())

  const contexts = () => contextsOf('identity', stores, {}, { sequelize: graph.database.sequelize, clock: graph.clock }, untold, 'caller', auditRecording)
  const provide = async (name: string) =>
    graph.platform.identity.provision({
      password,
      people: ['owner', 'admin', 'member'].map(role => ({ email: `${role}@${name}.test`, name: role })),
      organizations: [{ slug: name, name, members: ['owner', 'admin', 'member'].map(role => ({ email: `${role}@${name}.test`, roles: [role] })) }],
      keys: [],
    } as never)

  test('lists author, action, time, organization, and the address as the router saw it', async () => {
    const { users } = await provide('doors')
    await using door = await openDoor(graph)
    const owner = await door.signIn('owner@doors.test', password)
    const lies = { 'x-client-address': '203.0.113.9', 'x-client-agent': 'liar', 'x-forwarded-for': '203.0.113.9' }
    const headers = { ...owner, ...lies, 'user-agent': 'walker/2 (é)', 'x-request-id': 'by-the-door', 'content-type': 'application/json' }
    const made = await door.ask('POST', '/graphql', { headers, body: { query: createKey, variables: newKey() } })
    const { id } = made.json.data.createApiKey.apiKey
    const answer = await door.ask('POST', '/graphql', { headers: owner, body: { query: logOf, variables: { action: 'api_key.created' } } })
    expect(answer.json.data.auditLog.nodes).toEqual([
      {
        id: expect.any(String),
        at: graph.clock.in(0).toISOString(),
        action: 'api_key.created',
        actorKind: 'USER',
        user: { id: users['owner@doors.test'] },
        apiKeyId: null,
        appId: null,
        organization: { slug: 'doors' },
        targetType: 'api_key',
        targetId: id,
        ipAddress: '127.0.0.1',
        userAgent: expect.stringMatching(/^walker\/2 \(\?+\)$/),
        requestId: 'by-the-door',
        details: [{ key: 'service', value: 'publishing' }],
      },
    ])
  })

  test('is read by managers of the organization alone, each their own organization', async () => {
    const { users, organizations } = await provide('readers')
    const other = await provide('elsewhere')
    const at = (role: string) => person(users[`${role}@readers.test`]!, organizations.readers!, [role])
    const stranger = person(other.users['owner@elsewhere.test']!, other.organizations.elsewhere!, ['owner'])
    const made = (await graph.execute(createKey, newKey(), { as: at('owner') })).data().createApiKey.apiKey
    for (const role of ['owner', 'admin'])
      expect((await graph.execute(logOf, {}, { as: at(role) })).data().auditLog.nodes.map((each: { targetId: string }) => each.targetId)).toEqual([made.id])
    ;(await graph.execute(logOf, {}, { as: at('member') })).refused('FORBIDDEN')
    ;(await graph.execute(logOf, {}, { as: { ...at('owner'), organizationId: null, roles: [], context: 'personal' } })).refused('FORBIDDEN')
    expect((await graph.execute(logOf, {}, { as: stranger })).data().auditLog.nodes).toEqual([])
    // Who did it is a person elsewhere: nothing tells that there is such a one.
    expect((await graph.execute(logOf, { userId: users['owner@readers.test'] }, { as: stranger })).data().auditLog.nodes).toEqual([])
  })

  test('is paged from the newest, filtered by action, person and time, and counted only when selected', async () => {
    const { users, organizations } = await provide('pages')
    const as = (role: string) => ({ as: person(users[`${role}@pages.test`]!, organizations.pages!, [role]) })
    const ids: string[] = []
    for (const role of ['owner', 'admin', 'owner', 'admin', 'owner']) {
      ids.unshift((await graph.execute(createKey, newKey(`Key ${ids.length}`), as(role))).data().createApiKey.apiKey.id)
      await graph.clock.advance(1000)
    }
    const seen = async (variables: object) => (await graph.execute(logOf, variables as never, as('owner'))).data().auditLog
    const targets = async (variables: object) => (await seen(variables)).nodes.map((each: { targetId: string }) => each.targetId)
    const first = await seen({ first: 2 })
    expect(first).toMatchObject({ totalCount: 5, pageInfo: { hasNextPage: true } })
    expect(await targets({ first: 2, after: first.pageInfo.endCursor })).toEqual(ids.slice(2, 4))
    expect(await targets({ userId: users['admin@pages.test'] })).toEqual([ids[1], ids[3]])
    expect(await targets({ action: 'api_key.revoked' })).toEqual([])
    expect(await targets({ since: graph.clock.in(-4000).toISOString(), until: graph.clock.in(-2000).toISOString() })).toEqual([ids[2], ids[3]])
    for (const wrong of [{ userId: 'x' }, { first: 101 }, { after: 'x' }]) (await graph.execute(logOf, wrong, as('owner'))).refused('BAD_USER_INPUT')
    const plain = '{ auditLog { nodes { id user { id } organization { slug } } } }'
    await graph.execute(plain, {}, as('owner'))
    expect(await graph.statements(() => graph.execute(plain, {}, as('owner')))).toHaveLength(3)
  })

  test('names the app and the person for whom it acts, or the key', async () => {
    const { users, organizations } = await provide('apps')
    const owner = person(users['owner@apps.test']!, organizations.apps!, ['owner'])
    const viewers = [
      { ...owner, clientId: 'phone' },
      { ...owner, kind: 'service', appId: 'app_launcher', onBehalfOf: owner.userId, roles: [], sessionId: null },
      { ...owner, kind: 'apiKey', keyId: organizations.apps!, userId: null, roles: [], sessionId: null },
    ] as const
    for (const viewer of viewers) {
      const context = contexts().open(viewer, { ...unbounded, requestId: 'r' })
      await inTransaction(context, unit => record(context, { tenantId: owner.organizationId!, action: 'api_key.created', subjectId: owner.userId! }, unit))
      await graph.clock.advance(1000)
    }
    const { nodes } = (await graph.execute(logOf, {}, { as: owner })).data().auditLog
    const who = ({ actorKind, user, appId, apiKeyId }: Told) => [actorKind, user?.id ?? null, appId, apiKeyId]
    expect(nodes.map(who).reverse()).toEqual([
      ['USER', owner.userId, 'phone', null],
      ['SERVICE', owner.userId, 'app_launcher', null],
      ['API_KEY', null, null, organizations.apps],
    ])
  })

  test('S-07 the database itself refuses to change or remove an entry, to the platform’s own user too', async () => {
    const { users, organizations } = await provide('kept')
    const owner = person(users['owner@kept.test']!, organizations.kept!, ['owner'])
    await graph.execute(createKey, newKey(), { as: owner })
    const id = organizations.kept!
    const refused = 'entries of the audit are neither changed nor removed'
    const attempts = [
      `update identity.audit_entries set action = 'nothing.done'`,
      `delete from identity.audit_entries where tenant_id = '${id}'`,
      'truncate identity.audit_entries',
      // By the way of retention, younger ones stay.
      `select set_config('identity.audit_ends', '${graph.clock.in(-1000).toISOString()}', true); delete from identity.audit_entries where tenant_id = '${id}'`,
    ]
    for (const sql of attempts)
      await expect(
        graph.database.sequelize.transaction(transaction => graph.database.sequelize.query(sql, { transaction })),
        sql,
      ).rejects.toThrow(refused)
    // By the way of a demo's removal, those of who is still there.
    const removal = `select set_config('identity.audit_removal', 'on', true); delete from identity.audit_entries where tenant_id = '${id}'`
    await expect(graph.database.sequelize.transaction(transaction => graph.database.sequelize.query(removal, { transaction }))).rejects.toThrow(
      'stay as long as those whom they are of',
    )
    // What was allowed once is not allowed to whoever is given the connection next.
    await expect(graph.rows('delete from identity.audit_entries')).rejects.toThrow(refused)
    expect((await graph.execute(logOf, {}, { as: owner })).data().auditLog.nodes).toHaveLength(1)
  })

  test('is written with the change: a rolled-back change has no entry, and without its entry nothing is changed', async () => {
    const { users, organizations } = await provide('both')
    const owner = person(users['owner@both.test']!, organizations.both!, ['owner'])
    await graph.rows(`alter table identity.audit_entries add constraint none check (tenant_id <> '${organizations.both}') not valid`)
    ;(await graph.execute(createKey, newKey(), { as: owner })).refused('INTERNAL_SERVER_ERROR')
    await graph.rows('alter table identity.audit_entries drop constraint none')
    expect(await graph.rows('select from identity.api_keys where organization_id = $1', [organizations.both])).toEqual([])
  })
})
