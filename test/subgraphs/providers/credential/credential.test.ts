import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person, personally } from '../../../kit/viewers.ts'
import { createCredential, credential, credentials, deleteCredential, fields } from '../documents.ts'
import { seedCredential } from './seed.ts'

const apiKey = (value = 'sk-of-the-test-0001') => [{ name: 'apiKey', value }]
const openai = { provider: 'openai', fields: apiKey() }
const baseUrl = 'https://93.184.216.34/v1'
const custom = (name: string) => ({ provider: 'custom', name, baseUrl, fields: apiKey() })
const tryToMake = (graph: Supergraph, as: Viewer, input: object) => graph.execute(createCredential, { input }, { as })
const make = async (graph: Supergraph, as: Viewer, input: object = openai) => (await tryToMake(graph, as, input)).data().createCredential
const list = async (graph: Supergraph, as: Viewer, variables: object = {}) => (await graph.execute(credentials, { ...variables }, { as })).data().credentials
const names = async (graph: Supergraph, as: Viewer, variables: object = {}) =>
  (await list(graph, as, variables)).nodes.map(({ name }: { name: string }) => name)
/** Somebody of organization `admin`, whatever it is called here. */
const administrator = (...roles: string[]) => person(newId(), newId(), ['owner', ...roles])

describe('G-01 a credential is stored', () => {
  test('with its secret masked, for its organization, and it is on record', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    const made = await make(graph, owner)
    expect(made).toEqual({
      id: made.id,
      provider: 'openai',
      family: 'AI',
      level: 'ORGANIZATION',
      name: 'OpenAI',
      baseUrl: null,
      status: 'UNTESTED',
      fields: [{ name: 'apiKey', value: null, masked: '••••0001' }],
      organization: { id: organization.id },
      createdAt: graph.clock.now().toISOString(),
      version: 1,
      ...{ testedAt: null, testMessage: null, lastUsedAt: null, rotatedAt: null, graceEndsAt: null },
    })
    expect((await graph.execute(credential, { id: made.id }, { as: owner })).data().credential).toEqual(made)
    expect(await graph.rows('select tenant_id, actor, action, subject_id, details from providers.audit_entries')).toEqual([
      {
        ...{ tenant_id: organization.id, actor: `user:${owner.userId}`, action: 'credential.created', subject_id: made.id },
        details: { level: 'ORGANIZATION', provider: 'openai' },
      },
    ])
  })

  test('with its visible fields, and its address', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const mail = { host: '93.184.216.34', port: '587', user: 'me', password: 'short' }
    const made = await make(graph, owner, { provider: 'smtp', name: 'Mail', fields: Object.entries(mail).map(([name, value]) => ({ name, value })) })
    expect(made.fields).toEqual([
      { name: 'host', value: '93.184.216.34', masked: null },
      { name: 'port', value: '587', masked: null },
      { name: 'user', value: 'me', masked: null },
      { name: 'password', value: null, masked: '••••' },
    ])
    expect((await make(graph, owner, custom('mine'))).baseUrl).toBe(baseUrl)
  })

  test('once for each provider and organization, also when twenty are sent at once; custom providers are distinguished by name', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const answers = await Promise.all(Array.from({ length: 20 }, () => tryToMake(graph, owner, openai)))
    expect(answers.map(({ code }) => code ?? 'made').sort()).toEqual([...Array(19).fill('CONFLICT'), 'made'])
    expect((await tryToMake(graph, owner, { ...openai, name: 'Another' })).refused('CONFLICT').extensions.field).toBe('provider')
    await make(graph, outsider)
    await make(graph, owner, custom('one'))
    await make(graph, owner, custom('two'))
    expect((await tryToMake(graph, owner, custom('two'))).refused('CONFLICT').extensions.field).toBe('name')
    expect(await names(graph, owner)).toHaveLength(3)
  })

  const refusing = shared(() => supergraph())
  test.each<readonly [string, object, string]>([
    ['of no provider', { provider: 'nobody', fields: [] }, 'provider'],
    ['with a field that it does not have', { ...openai, fields: [...apiKey(), { name: 'gatewayUrl', value: 'https://example.com' }] }, 'fields[1].name'],
    ['without its secret', { provider: 'openai', fields: [] }, 'fields'],
    ['with an address for a provider that has one', { ...openai, baseUrl }, 'baseUrl'],
    ['without one for a provider that has none', { ...custom('a'), baseUrl: null }, 'baseUrl'],
    ...['http://169.254.169.254/v1', 'http://127.0.0.1:1/v1', 'http://[::1]:1/v1', 'http://10.0.0.7/v1', 'http://localhost:1/v1', 'ftp://example.com/v1'].map(
      address => [`at ${address}`, { ...custom('a'), baseUrl: address }, 'baseUrl'] as const,
    ),
    [
      'for mail by a private address',
      { provider: 'smtp', fields: ['password', 'user', 'port', 'host'].map(name => ({ name, value: name === 'host' ? '10.0.0.7' : '25' })) },
      'fields[3].value',
    ],
  ])('never %s', async (_, input, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    expect((await tryToMake(graph, owner, input)).refused('BAD_USER_INPUT').extensions.field).toBe(field)
    expect(await graph.rows('select from providers.credentials')).toEqual([])
  })

  test('at an address of the sandbox, which configuration allows', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner } = await graph.seed.owner()
    const address = `${graph.x.origin}/openai/v1`
    expect((await make(graph, owner, { ...custom('played'), baseUrl: address })).baseUrl).toBe(address)
  })

  test('once for one key, by anyone of the organization, also concurrently; the key does not depend on the secret', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const second = person(newId(), owner.organizationId!, ['admin'])
    const once = { ...custom('once'), idempotencyKey: 'k' }
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) => make(graph, index % 2 ? owner : second, index % 3 ? once : { ...once, level: 'ORGANIZATION' })),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    const [{ hash }] = (await graph.rows<{ hash: string }>('select hash from providers.idempotency_keys')) as [{ hash: string }]
    for (const other of [
      { ...once, fields: apiKey('sk-another-one-0002') },
      { ...once, name: 'twice' },
    ])
      expect((await tryToMake(graph, owner, other)).refused('CONFLICT').extensions.reason).toBe('KEY_REUSED')
    await graph.rows('delete from providers.credentials')
    await graph.rows('delete from providers.idempotency_keys')
    await make(graph, owner, { ...once, fields: apiKey('sk-another-one-0002') })
    expect(await graph.rows('select hash from providers.idempotency_keys')).toEqual([{ hash }])
  })

  test('up to the maximum number', async () => {
    await using graph = await supergraph({ quotas: { credentialsAnOrganization: 2 } })
    const { owner, outsider } = await graph.seed.owner().outsider()
    await make(graph, owner)
    await make(graph, owner, custom('one'))
    expect((await tryToMake(graph, owner, custom('two'))).refused('CONFLICT').extensions.reason).toBe('QUOTA')
    await make(graph, outsider)
  })

  test('never without an active organization', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const nowhere = { ...personally(owner), scopes: owner.scopes }
    for (const [document, variables] of [
      [createCredential, { input: openai }],
      [credentials, {}],
      [deleteCredential, { input: { id: newId() } }],
    ] as const)
      expect((await graph.execute(document, variables, { as: nowhere })).refused('FORBIDDEN').message).toMatch('switch to one')
  })
})

describe('G-01 a credential is removed', () => {
  test('with its secret and an audit entry; then another one can be stored', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id, name } = await make(graph, owner)
    const stale = await graph.execute(deleteCredential, { input: { id, expectedVersion: 7 } }, { as: owner })
    expect(stale.refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    const gone = (await graph.execute(deleteCredential, { input: { id, expectedVersion: 1 } }, { as: owner })).data()
    expect(gone.deleteCredential).toEqual({ id, name })
    expect(await graph.rows('select from providers.credentials')).toEqual([])
    expect(await graph.rows('select action, subject_id from providers.audit_entries order by action')).toEqual([
      { action: 'credential.created', subject_id: id },
      { action: 'credential.deleted', subject_id: id },
    ])
    ;(await graph.execute(deleteCredential, { input: { id } }, { as: owner })).refused('NOT_FOUND')
    ;(await graph.execute(deleteCredential, { input: { id: 'nonsense' } }, { as: owner })).refused('BAD_USER_INPUT')
    await make(graph, owner)
  })

  test('but never another organization’s', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id } = await make(graph, outsider)
    const answer = await graph.execute(deleteCredential, { input: { id } }, { as: owner })
    const none = await graph.execute(deleteCredential, { input: { id: newId() } }, { as: owner })
    expect(answer.refused('NOT_FOUND').message.replace(id, '')).toBe(none.refused('NOT_FOUND').message.replace(/[\w-]{36}/, ''))
    expect(await names(graph, outsider)).toHaveLength(1)
  })
})

describe('G-01 credentials are listed', () => {
  test('oldest first, page by page, narrowed by provider and family', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    for (const name of ['one', 'two', 'three']) {
      await make(graph, owner, custom(name))
      await graph.clock.advance(1000)
    }
    await make(graph, owner, { provider: 'stripe', fields: [{ name: 'secretKey', value: 'sk-test' }] })
    const first = await list(graph, owner, { first: 2 })
    expect([first.nodes.map(({ name }: { name: string }) => name), first.pageInfo.hasNextPage, first.totalCount]).toEqual([['one', 'two'], true, 4])
    expect(await names(graph, owner, { after: first.pageInfo.endCursor })).toEqual(['three', 'Stripe'])
    expect(await names(graph, owner, { provider: 'custom' })).toEqual(['one', 'two', 'three'])
    expect(await names(graph, owner, { family: 'PAYMENTS' })).toEqual(['Stripe'])
    expect(await names(graph, owner, { family: 'PAYMENTS', provider: 'custom' })).toEqual([])
    expect(await names(graph, owner, { level: null, family: 'AI', first: 1, after: first.pageInfo.endCursor })).toEqual(['three'])
    const unknown = await graph.execute(credentials, { provider: 'nobody' }, { as: owner })
    expect(unknown.refused('BAD_USER_INPUT').extensions.field).toBe('provider')
  })

  test('also through their organization; another organization’s shows none, to any caller', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id } = await make(graph, owner)
    const mine = await graph.execute('{ viewer { organization { credentials { nodes { id } totalCount } } } }', {}, { as: owner })
    expect(mine.data().viewer.organization.credentials).toEqual({ nodes: [{ id }], totalCount: 1 })
    expect(await list(graph, outsider)).toMatchObject({ nodes: [], totalCount: 0 })
    expect((await graph.execute(credential, { id }, { as: outsider })).refused('NOT_FOUND').extensions.id).toBe(id)
  })

  test('by the same number of statements for fifty as for five', async () => {
    await using graph = await supergraph()
    const { owner, organization } = await graph.seed.owner()
    for (let count = 0; count < 50; count += 1) await seedCredential(graph, { organizationId: organization.id })
    const whole = `query($first: Int) { credentials(first: $first) { nodes ${fields} totalCount } }`
    const cost = async (first: number) => {
      await graph.execute(whole, { first }, { as: owner })
      return (await graph.statements(() => graph.execute(whole, { first }, { as: owner }))).length
    }
    expect(await cost(50)).toBe(await cost(5))
  })
})

describe('G-01 credentials of the platform', () => {
  test('shows the platform’s credentials to its admins only, and lets only super admins change them', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const [superAdmin, admin] = [administrator('platform_super_admin'), administrator('platform_admin')]
    const ofPlatform = { ...openai, level: 'PLATFORM' }
    for (const viewer of [owner, admin]) (await tryToMake(graph, viewer, ofPlatform)).refused('FORBIDDEN')
    const made = await make(graph, superAdmin, ofPlatform)
    expect(made).toMatchObject({ level: 'PLATFORM', organization: null })
    expect((await tryToMake(graph, superAdmin, ofPlatform)).refused('CONFLICT').extensions.field).toBe('provider')
    await make(graph, owner)
    await make(graph, superAdmin)

    const { id } = made
    for (const viewer of [superAdmin, admin]) {
      expect(await list(graph, viewer, { level: 'PLATFORM' })).toMatchObject({ nodes: [{ id }], totalCount: 1 })
      expect((await graph.execute(credential, { id }, { as: viewer })).data().credential.id).toBe(id)
    }
    ;(await graph.execute(credentials, { level: 'PLATFORM' }, { as: owner })).refused('FORBIDDEN')
    ;(await graph.execute(credential, { id }, { as: owner })).refused('NOT_FOUND')
    expect(await names(graph, admin)).toEqual([])
    const remove = (as: Viewer) => graph.execute(deleteCredential, { input: { id } }, { as })
    for (const viewer of [owner, admin]) (await remove(viewer)).refused('FORBIDDEN')
    expect((await remove(superAdmin)).data().deleteCredential.id).toBe(id)
    expect(await graph.rows('select level from providers.credentials')).toEqual([{ level: 'ORGANIZATION' }, { level: 'ORGANIZATION' }])
    expect(await graph.rows('select tenant_id, details from providers.audit_entries where subject_id = $1 order by action', [id])).toMatchObject(
      Array(2).fill({ tenant_id: superAdmin.organizationId, details: { level: 'PLATFORM' } }),
    )
  })

  test('are hidden by the store itself from others, even if a resolver does not check', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    await seedCredential(graph, { organizationId: null, provider: 'openai' })
    const reading = { fresh: true, signal: new AbortController().signal, read() {}, statement: <T>(run: () => Promise<T>) => run(), requestId: 'test' }
    const counted = async (viewer: Viewer) => {
      const { credentials: opened } = graph.platform.providers.open(viewer, reading)
      return (await opened.filtered({ level: 'PLATFORM' }, { first: 5 })).nodes.length
    }
    expect([await counted(owner), await counted(administrator('platform_admin'))]).toEqual([0, 1])
  })
})
