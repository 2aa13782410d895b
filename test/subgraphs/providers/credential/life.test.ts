import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { shared } from '../../../kit/shared.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { person } from '../../../kit/viewers.ts'
import { createCredential, credentialResolution, deleteCredential, rotateCredential, testCredential, updateCredential } from '../documents.ts'
import { seedCredential } from './seed.ts'
import { playVendor } from './vendor.ts'

const apiKey = (value: string) => [{ name: 'apiKey', value }]
const secret = 'sk-of-the-test-0001'
const publicUrl = 'https://93.184.216.34/v1'

async function make(graph: Supergraph, as: Viewer, input: object): Promise<{ readonly id: string; readonly version: number }> {
  return (await graph.execute(createCredential, { input }, { as })).data().createCredential
}
const makeCustom = (graph: Supergraph, as: Viewer, baseUrl = publicUrl, name = 'mine') =>
  make(graph, as, { provider: 'custom', name, baseUrl, fields: apiKey(secret) })
const update = (graph: Supergraph, as: Viewer, input: object) => graph.execute(updateCredential, { input }, { as })
const rotate = (graph: Supergraph, as: Viewer, input: object) => graph.execute(rotateCredential, { input }, { as })
const tried = (graph: Supergraph, as: Viewer, id: string) => graph.execute(testCredential, { input: { id } }, { as })
const resolved = async (graph: Supergraph, as: Viewer, provider = 'openai') =>
  (await graph.execute(credentialResolution, { provider }, { as })).data().credentialResolution
const administrator = (...roles: string[]) => person(newId(), newId(), ['owner', ...roles])
const facts = async (graph: Supergraph) =>
  await graph.rows<{ kind: string; body: Record<string, unknown> }>(`select kind, body from providers.facts order by seq`)

describe('G-01 a credential is changed', () => {
  test('in its name, in use and out of it, and each change is on record', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const made = await make(graph, owner, { provider: 'openai', fields: apiKey(secret) })
    const renamed = (await update(graph, owner, { id: made.id, name: 'Ours', expectedVersion: 1 })).data().updateCredential
    expect(renamed).toMatchObject({ name: 'Ours', status: 'UNTESTED', version: 2 })
    expect((await update(graph, owner, { id: made.id, active: false })).data().updateCredential.status).toBe('DISABLED')
    expect((await update(graph, owner, { id: made.id, name: 'Still out' })).data().updateCredential.status).toBe('DISABLED')
    expect((await update(graph, owner, { id: made.id, active: true })).data().updateCredential.status).toBe('UNTESTED')
    expect((await update(graph, owner, { id: made.id, name: 'Late', expectedVersion: 2 })).refused('CONFLICT').extensions.reason).toBe('STALE_VERSION')
    const actions = await graph.rows<{ action: string }>('select action from providers.audit_entries')
    expect(actions.map(({ action }) => action).sort()).toEqual(['credential.created', ...Array(4).fill('credential.updated')])
  })

  test('never to another’s name, an internal address, or an address that its provider does not have', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const mine = await makeCustom(graph, owner)
    await makeCustom(graph, owner, publicUrl, 'taken')
    const openai = await make(graph, owner, { provider: 'openai', fields: apiKey(secret) })
    const answers = await Promise.all(
      [
        { id: mine.id, name: 'taken' },
        { id: mine.id, baseUrl: 'http://[::ffff:10.0.0.7]/v1' },
        { id: mine.id, baseUrl: 'http://2130706433/v1' },
        { id: mine.id, name: 'a/b' },
        { id: openai.id, baseUrl: publicUrl },
      ].map(async input => {
        const { extensions } = (await update(graph, owner, input)).refused(input.name === 'taken' ? 'CONFLICT' : 'BAD_USER_INPUT')
        return extensions.field
      }),
    )
    expect(answers).toEqual(['name', 'baseUrl', 'baseUrl', 'name', 'baseUrl'])
    const names = await Promise.all(Array.from({ length: 20 }, (_, index) => update(graph, owner, { id: index % 2 ? mine.id : openai.id, name: 'one-name' })))
    expect(names.filter(({ code }) => code)).toEqual([])
  })

  test('by nobody of another organization, and at the platform’s level by its super admins only', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    const { id } = await make(graph, outsider, { provider: 'openai', fields: apiKey(secret) })
    const platforms = await seedCredential(graph, { organizationId: null, provider: 'anthropic', name: 'Anthropic' })
    const admin = administrator('platform_admin')
    const everyChange = (id: string): readonly (readonly [string, object])[] => [
      [updateCredential, { id, name: 'Mine now' }],
      [rotateCredential, { id, fields: apiKey('sk-mine-now-0000') }],
      [testCredential, { id }],
      [deleteCredential, { id }],
    ]
    for (const [document, input] of everyChange(id)) (await graph.execute(document, { input }, { as: owner })).refused('NOT_FOUND')
    for (const as of [owner, admin])
      for (const [document, input] of everyChange(platforms.id)) (await graph.execute(document, { input }, { as })).refused('FORBIDDEN')
    const done = await update(graph, administrator('platform_super_admin'), { id: platforms.id, name: 'Ours' })
    expect(done.data().updateCredential).toMatchObject({ name: 'Ours', level: 'PLATFORM' })
  })
})

describe('G-01 a credential is rotated', () => {
  test('and its former secret is stored until its grace period ends, encrypted for its own column; other fields stay', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id } = await make(graph, owner, {
      provider: 'x',
      fields: [
        { name: 'clientId', value: 'app' },
        { name: 'clientSecret', value: secret },
      ],
    })
    const rotated = (await rotate(graph, owner, { id, fields: [{ name: 'clientSecret', value: 'sk-of-the-test-0002' }], graceSeconds: 60 })).data()
      .rotateCredential
    expect(rotated).toMatchObject({
      status: 'UNTESTED',
      rotatedAt: graph.clock.now().toISOString(),
      graceEndsAt: graph.clock.in(60_000).toISOString(),
      version: 2,
    })
    expect(rotated.fields).toEqual([
      { name: 'clientId', value: 'app', masked: null },
      { name: 'clientSecret', value: null, masked: '••••0002' },
    ])
    const { credentialsInUse } = graph.platform.providers.job('test')
    const inUse = async () => (await credentialsInUse.resolve('x', owner.organizationId!))!.secrets
    expect(await inUse()).toEqual(['sk-of-the-test-0002', secret])
    await graph.clock.advance(61_000)
    expect(await inUse()).toEqual(['sk-of-the-test-0002'])
    await graph.clock.run(120_000)
    expect(await graph.rows('select previous_secret from providers.credentials')).toEqual([{ previous_secret: null }])
  })

  test.each([
    ['at once where no grace is wanted', { graceSeconds: 0 }],
    [
      'at once where what is no secret changes with it',
      {
        fields: [
          { name: 'clientSecret', value: 'sk-of-the-test-0002' },
          { name: 'clientId', value: 'another' },
        ],
      },
    ],
  ])('and forgets the one before %s', async (_, more) => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id } = await make(graph, owner, {
      provider: 'x',
      fields: [
        { name: 'clientId', value: 'app' },
        { name: 'clientSecret', value: secret },
      ],
    })
    const done = await rotate(graph, owner, { id, fields: [{ name: 'clientSecret', value: 'sk-of-the-test-0002' }], ...more })
    expect(done.data().rotateCredential.graceEndsAt).toBeNull()
    expect(await graph.rows('select previous_secret from providers.credentials')).toEqual([{ previous_secret: null }])
  })

  const refusing = shared(() => supergraph())
  test.each<readonly [string, object, string]>([
    ['without a secret', { fields: [] }, 'fields'],
    ['with a field that it does not have', { fields: [...apiKey('sk-x'), { name: 'host', value: 'h' }] }, 'fields[1].name'],
    ['for longer than a week', { fields: apiKey('sk-x'), graceSeconds: 604_801 }, 'graceSeconds'],
    ['for less than nothing', { fields: apiKey('sk-x'), graceSeconds: -1 }, 'graceSeconds'],
  ])('never %s', async (_, input, field) => {
    const graph = refusing()
    const { owner } = await graph.seed.owner()
    const { id } = await make(graph, owner, { provider: 'openai', fields: apiKey(secret) })
    expect((await rotate(graph, owner, { id, ...input })).refused('BAD_USER_INPUT').extensions.field).toBe(field)
  })

  test('for a mail server, but never to an internal address', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const mail = { host: '93.184.216.34', port: '587', user: 'me', password: secret }
    const { id } = await make(graph, owner, { provider: 'smtp', fields: Object.entries(mail).map(([name, value]) => ({ name, value })) })
    const given = [
      { name: 'password', value: 'sk-of-the-test-0002' },
      { name: 'host', value: '192.168.0.1' },
    ]
    expect((await rotate(graph, owner, { id, fields: given })).refused('BAD_USER_INPUT').extensions.field).toBe('fields[1].value')
  })

  test('by twenty callers at once, with one secret and a former one as result', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner()
    const { id } = await make(graph, owner, { provider: 'openai', fields: apiKey(secret) })
    const given = Array.from({ length: 20 }, (_, index) => `sk-of-the-test-${1000 + index}`)
    await Promise.all(given.map(value => rotate(graph, owner, { id, fields: apiKey(value) })))
    const { secrets } = (await graph.platform.providers.job('test').credentialsInUse.resolve('openai', owner.organizationId!))!
    expect(secrets).toHaveLength(2)
    expect(given).toContain(secrets[0])
    expect(secrets[0]).not.toBe(secrets[1])
    const [row] = await graph.rows<{ version: number }>('select version from providers.credentials')
    expect(row!.version).toBe(21)
  })
})

describe('G-01 a credential is tested', () => {
  test('by a free call, and reports the provider’s answer without the secret; managers are notified while it fails', async () => {
    await using vendor = await playVendor('sk-of-the-test-0002')
    await using graph = await supergraph({ trusts: [vendor.origin] })
    const { owner } = await graph.seed.owner()
    const { id } = await makeCustom(graph, owner, `${vendor.origin}/v1`)
    const failing = (await tried(graph, owner, id)).data().testCredential
    expect(failing).toMatchObject({ status: 'FAILING', testedAt: graph.clock.now().toISOString(), version: 1 })
    expect(failing.testMessage).toBe('Custom answered 401: Incorrect API key provided: ••••')
    expect(vendor.asked).toMatchObject([{ method: 'GET', path: '/v1/models' }])
    expect(await facts(graph)).toMatchObject([
      {
        kind: 'attention.opened',
        body: { key: `credential:${id}`, kind: 'CREDENTIAL_FAILING', audience: 'managers', organizationId: owner.organizationId, body: failing.testMessage },
      },
    ])
    await rotate(graph, owner, { id, fields: apiKey('sk-of-the-test-0002') })
    expect((await tried(graph, owner, id)).data().testCredential.status).toBe('WORKING')
    expect((await facts(graph)).map(({ kind }) => kind)).toEqual(['attention.opened', 'attention.closed'])
    const actions = await graph.rows<{ action: string }>('select action from providers.audit_entries')
    expect(actions.map(({ action }) => action).sort()).toEqual(['credential.created', 'credential.rotated', 'credential.tested', 'credential.tested'])
  })

  test.each([
    [429, 'UNTESTED'],
    [503, 'UNTESTED'],
    [403, 'FAILING'],
    [404, 'FAILING'],
    [302, 'FAILING'],
  ])('and after %i it is %s', async (status, expected) => {
    await using vendor = await playVendor()
    await using graph = await supergraph({ trusts: [vendor.origin] })
    const { owner } = await graph.seed.owner()
    const { id } = await makeCustom(graph, owner, `${vendor.origin}/v1`)
    vendor.takes = status
    const done = (await tried(graph, owner, id)).data().testCredential
    expect(done.status).toBe(expected)
    expect(done.testMessage).toContain(String(status))
  })

  test('and fails at an unreachable server; a network application is not tested, and an inactive one is rejected', async () => {
    await using vendor = await playVendor()
    await using graph = await supergraph({ trusts: [vendor.origin] })
    const { owner } = await graph.seed.owner()
    const custom = await makeCustom(graph, owner, `${vendor.origin}/v1`)
    await vendor[Symbol.asyncDispose]()
    expect((await tried(graph, owner, custom.id)).data().testCredential.status).toBe('FAILING')
    const x = await make(graph, owner, {
      provider: 'x',
      fields: [
        { name: 'clientId', value: 'app' },
        { name: 'clientSecret', value: secret },
      ],
    })
    expect((await tried(graph, owner, x.id)).data().testCredential).toMatchObject({
      status: 'UNTESTED',
      testedAt: null,
      testMessage: expect.stringContaining('X'),
    })
    await update(graph, owner, { id: x.id, active: false })
    ;(await tried(graph, owner, x.id)).refused('CONFLICT')
  })

  test('where the processor is played too, as at the processor itself', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { owner } = await graph.seed.owner()
    const secretKey = (value: string) => [{ name: 'secretKey', value }]
    const { id } = await make(graph, owner, { provider: 'stripe', fields: secretKey('sk_test_of_ours') })
    expect((await tried(graph, owner, id)).data().testCredential).toMatchObject({ status: 'WORKING', testMessage: 'Stripe took it.' })
    await rotate(graph, owner, { id, fields: secretKey('sk_live_of_nobody') })
    expect((await tried(graph, owner, id)).data().testCredential.status).toBe('FAILING')
  })

  test('and a change meanwhile discards the result', async () => {
    await using vendor = await playVendor()
    await using graph = await supergraph({ trusts: [vendor.origin] })
    const { owner } = await graph.seed.owner()
    const { id } = await makeCustom(graph, owner, `${vendor.origin}/v1`)
    const held = Promise.withResolvers<void>()
    vendor.hold = () => held.promise
    const testing = tried(graph, owner, id)
    await expect.poll(() => vendor.asked.length).toBe(1)
    await rotate(graph, owner, { id, fields: apiKey('sk-of-the-test-0002') })
    held.resolve()
    expect((await testing).data().testCredential).toMatchObject({ status: 'UNTESTED', testedAt: null, version: 2 })
  })
})

describe('G-01 the credential for calls of a provider', () => {
  test('is the organization’s own, else the platform’s, never a disabled one; the platform’s is shown by its level only', async () => {
    await using graph = await supergraph()
    const { owner, outsider } = await graph.seed.owner().outsider()
    expect(await resolved(graph, owner)).toEqual({ provider: 'openai', level: null, credential: null })
    const platforms = await seedCredential(graph, { organizationId: null, provider: 'openai', name: 'OpenAI', secret: 'sk-of-the-platform' })
    const { id } = await make(graph, owner, { provider: 'openai', fields: apiKey(secret) })
    expect(await resolved(graph, owner)).toEqual({ provider: 'openai', level: 'ORGANIZATION', credential: { id } })
    expect(await resolved(graph, outsider)).toEqual({ provider: 'openai', level: 'PLATFORM', credential: null })
    expect(await resolved(graph, administrator('platform_admin'))).toEqual({ provider: 'openai', level: 'PLATFORM', credential: { id: platforms.id } })
    await update(graph, owner, { id, active: false })
    expect(await resolved(graph, owner)).toEqual({ provider: 'openai', level: 'PLATFORM', credential: null })
    const { credentialsInUse } = graph.platform.providers.job('test')
    expect((await credentialsInUse.resolve('openai', owner.organizationId!))!.secrets).toEqual(['sk-of-the-platform'])
    ;(await graph.execute(credentialResolution, { provider: 'nobody' }, { as: owner })).refused('BAD_USER_INPUT')
  })
})
