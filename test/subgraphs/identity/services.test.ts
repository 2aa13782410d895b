import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../subgraphs/identity/setup/provision.ts'
import { everyScope } from '../../../subgraphs/scopes.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { execute, freshIdentity, userViewer, world } from './identity-world.ts'

const open = freshIdentity()
let made: Provisioned
beforeEach(async () => {
  made = await open.identity.provision(world)
})

const app = (appId: string, more: Partial<Viewer> = {}): Viewer => ({ ...anonymous, kind: 'service', appId, scopes: everyScope, ...more })
const ask = (viewer: Viewer, source: string, variables: Record<string, unknown>) => execute(open.identity, viewer, source, variables)

const contact = 'query($id: ID!) { contactOf(userId: $id) }'
const maker = 'query($id: ID!) { apiKeyMaker(id: $id) }'
const account = 'query($id: ID!, $sessionId: ID) { accountOf(userId: $id, sessionId: $sessionId) { isRecoverable profile } }'
const members =
  'query($id: ID!, $first: Int, $after: String) { membershipsOf(organizationId: $id, first: $first, after: $after) { totalCount nodes { membershipId userId userKind roles createdAt } pageInfo { endCursor hasNextPage } } }'

describe('identity’s fields for services only', () => {
  it.each([
    ['contactOf', contact, 'app_launcher'],
    ['membershipsOf', members, 'app_launcher'],
    ['apiKeyMaker', maker, 'app_payments'],
  ])('%s is FORBIDDEN for every other app, and for a token for one service alone', async (_, source, asks) => {
    const id = made.organizations.acme
    for (const other of ['app_launcher', 'app_payments', 'app_agents', 'app_publishing', 'app_providers'].filter(each => each !== asks))
      expect((await ask(app(other), source, { id })).code, other).toBe('FORBIDDEN')
    expect((await ask(app(asks, { onlyAt: 'payments' }), source, { id })).code).toBe('FORBIDDEN')
    expect((await ask(app(asks), source, { id })).code).toBeUndefined()
    expect((await ask(app(asks), source, { id: 'x' })).code).toBe('BAD_USER_INPUT')
  })

  it('accountOf shows the launcher the account of the person on whose behalf it asks, and no other', async () => {
    const [id, other] = [made.users['ada@acme.test']!, made.users['owner@acme.test']!]
    const on = (appId: string) => app(appId, { userId: id, onBehalfOf: id })
    expect((await ask(on('app_agents'), account, { id })).code).toBe('FORBIDDEN')
    expect((await ask(app('app_launcher'), account, { id })).code).toBe('FORBIDDEN')
    expect((await ask(on('app_launcher'), account, { id: other })).code).toBe('FORBIDDEN')
    const told = async () => (await ask(on('app_launcher'), account, { id })).data().accountOf
    const profile = { user: { id, email: 'ada@acme.test' }, session: null, recoveryEmail: { status: 'none' } }
    expect(await told()).toMatchObject({ isRecoverable: false, profile })
    const at = open.clock.now()
    const write = (sql: string) => open.database.sequelize.query(sql, { bind: [id, 'ada@elsewhere.test', at] })
    await write('insert into identity.recovery_emails (user_id, pending_email, updated_at) values ($1, $2, $3)')
    expect(await told()).toMatchObject({ isRecoverable: false, profile: { recoveryEmail: { status: 'pending' } } })
    await write('update identity.recovery_emails set email = $2, verified_at = $3, pending_email = null where user_id = $1')
    expect(await told()).toMatchObject({ isRecoverable: true, profile: { recoveryEmail: { status: 'verified' } } })
  })

  it('contactOf returns the verified address of a person who may sign in, else null', async () => {
    const id = made.users['ada@acme.test']!
    const told = async () => (await ask(app('app_launcher'), contact, { id })).data().contactOf
    expect(await told()).toBe('ada@acme.test')
    await open.database.sequelize.query('update identity.users set email_verified = false where id = $1', { bind: [id] })
    expect(await told()).toBe(null)
    await open.database.sequelize.query('update identity.users set email_verified = true, suspended_at = $2 where id = $1', { bind: [id, open.clock.now()] })
    expect(await told()).toBe(null)
    expect((await ask(app('app_launcher'), contact, { id: made.organizations.acme })).data().contactOf).toBe(null)
  })

  it('personWithContact returns who has verified an address and may sign in, whatever its letters, else null', async () => {
    const id = made.users['ada@acme.test']!
    const source = 'query($email: EmailAddress!) { personWithContact(email: $email) }'
    const told = async (email = 'Ada@ACME.test') => (await ask(app('app_launcher'), source, { email })).data().personWithContact
    expect([await told(), await told('ada@acme.test'), await told('nobody@acme.test')]).toEqual([id, id, null])
    const change = (set: string) => open.database.sequelize.query(`update identity.users set ${set} where id = $1`, { bind: [id] })
    await change('email_verified = false')
    expect(await told()).toBe(null)
    await change('email_verified = true, suspended_at = now()')
    expect(await told()).toBe(null)
    for (const other of ['app_payments', 'app_agents', 'app_publishing', 'app_providers'])
      expect((await ask(app(other), source, { email: 'ada@acme.test' })).code, other).toBe('FORBIDDEN')
    expect((await ask(app('app_launcher', { onlyAt: 'payments' }), source, { email: 'ada@acme.test' })).code).toBe('FORBIDDEN')
    expect((await ask(userViewer(id, made.organizations.acme!, ['owner']), source, { email: 'ada@acme.test' })).code).toBe('FORBIDDEN')
  })

  it('membershipsOf pages through the members of any organization, the longest-standing first', async () => {
    const page = async (after?: string) => (await ask(app('app_launcher'), members, { id: made.organizations.acme, first: 2, after })).data().membershipsOf
    const first = await page()
    expect(first.nodes).toHaveLength(2)
    expect(first.pageInfo.hasNextPage).toBe(true)
    const rest = await page(first.pageInfo.endCursor)
    const all = [...first.nodes, ...rest.nodes]
    expect(new Set(all.map(({ userId }: { userId: string }) => userId)).size).toBe(all.length)
    expect(all.length).toBe(Math.min(4, first.totalCount))
    const times = all.map(({ createdAt }: { createdAt: string }) => createdAt)
    expect(times).toEqual(times.toSorted())
    expect(all.find(({ userId }: { userId: string }) => userId === made.users['owner@acme.test'])).toMatchObject({ userKind: 'HUMAN', roles: ['OWNER'] })
    const none = await ask(app('app_launcher'), members, { id: made.users['ada@acme.test'] })
    expect(none.data().membershipsOf.nodes).toEqual([])
  })

  it('apiKeyMaker returns the person behind a key, also one made by another key; null for another organization', async () => {
    const [acme, other, owner] = [made.organizations.acme!, made.organizations.other!, made.users['owner@acme.test']!]
    const manager = userViewer(owner, acme, ['owner'])
    const create = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { id } } }'
    const input = { name: 'one', service: 'publishing', scopes: ['posts.read', 'api_keys.write'] }
    const first = (await ask(manager, create, { input })).data().createApiKey.apiKey.id
    const key: Viewer = {
      ...anonymous,
      kind: 'apiKey',
      keyId: first,
      organizationId: acme,
      context: 'organization',
      scopes: ['publishing:api_keys.write', 'publishing:posts.read'],
    }
    const second = (await ask(key, create, { input: { ...input, name: 'two', scopes: ['posts.read'] } })).data().createApiKey.apiKey.id
    const told = async (id: string, organizationId: string | null = null) =>
      (await ask(app('app_payments', { organizationId, context: organizationId ? 'organization' : 'personal' }), maker, { id })).data().apiKeyMaker
    expect([await told(first), await told(second), await told(second, acme)]).toEqual([owner, owner, owner])
    expect([await told(first, other), await told(acme)]).toEqual([null, null])
  })
})
