import { beforeEach, describe, expect, it } from 'vitest'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../kit/statements.ts'
import { execute, freshIdentity, quotas, userViewer, world } from '../identity-world.ts'

describe('API keys', () => {
  const open = freshIdentity()
  let made: Provisioned
  let owner: Viewer
  let member: Viewer

  beforeEach(async () => {
    made = await open.identity.provision(world)
    owner = userViewer(made.users['owner@acme.test']!, made.organizations.acme!, ['owner'])
    member = userViewer(made.users['ada@acme.test']!, made.organizations.acme!, ['member'])
  })

  const run = (viewer: Viewer, source: string, variables?: Record<string, unknown>) => execute(open.identity, viewer, source, variables)
  const create = 'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret apiKey { id name prefix scopes expiresAt createdBy { name } } } }'
  const revoke = 'mutation($id: ID!) { revokeApiKey(input: { id: $id }) { revokedAt } }'
  const list = '{ apiKeys { totalCount nodes { id name prefix lastUsedAt revokedAt } } }'
  const input = { name: 'importer', scopes: ['publishing:posts.write', 'publishing:posts.read'] }
  const use = async (clear: string) => {
    const { authority } = open.identity
    return (await authority.keys([authority.hashKey(clear)])).get(authority.hashKey(clear))
  }

  it('I-02 shows the clear text once and stores its hash', async () => {
    const { secret, apiKey } = (await run(owner, create, { input })).data().createApiKey
    expect(secret).toMatch(/^sgk_[\w-]{43}$/)
    expect(apiKey).toMatchObject({
      prefix: secret.slice(0, 12),
      scopes: ['publishing:posts.read', 'publishing:posts.write'],
      createdBy: { name: 'Olga Owner' },
    })
    const [rows] = await open.database.sequelize.query('select * from identity.api_keys')
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(await use(secret)).toEqual({ keyId: apiKey.id, organizationId: owner.organizationId, scopes: apiKey.scopes, expiresAt: null })
    expect(await use(`${secret}x`)).toBeUndefined()
  })

  it('I-02 takes scopes of the catalogue only, and none that the creator lacks', async () => {
    const of = (...scopes: string[]) => run(owner, create, { input: { ...input, scopes } })
    expect((await of()).code).toBe('BAD_USER_INPUT')
    for (const name of ['posts.read', 'publishing:posts.*', 'publishing:*', 'publishing:posts:read', 'publishing:posts.read:123', 'identity:users.read'])
      expect((await of(name)).code, name).toBe('BAD_USER_INPUT')
    const admin = { ...owner, scopes: ['publishing:posts.read'] }
    expect((await run(admin, create, { input })).code).toBe('FORBIDDEN')
    expect((await run(member, create, { input })).code).toBe('FORBIDDEN')
    expect((await run(member, list)).code).toBe('FORBIDDEN')
  })

  it('refuses keys past the number that may stand, and past a day’s number for a while', async () => {
    const another = async () => (await run(owner, create, { input })).data().createApiKey.apiKey.id as string
    const first = await another()
    // One came with the world.
    while ((await run(owner, list)).data().apiKeys.totalCount < quotas.keysAnOrganization) await another()
    const full = await run(owner, create, { input })
    expect([full.code, full.error?.extensions.reason]).toEqual(['CONFLICT', 'QUOTA'])
    await run(owner, revoke, { id: first })
    expect((await run(owner, create, { input: { ...input, expiresAt: new Date(open.clock.now().getTime() + 3_600_000).toISOString() } })).code).toBeUndefined()
    expect((await run(owner, create, { input })).code).toBe('CONFLICT')
    open.clock.advance(3_600_000)
    await another()
    const tired = await run(owner, create, { input })
    expect(tired.code).toBe('CONFLICT')
    const keys = (await run(owner, list)).data().apiKeys.nodes as { id: string }[]
    for (const { id } of keys) await run(owner, revoke, { id })
    expect((await run(owner, create, { input })).error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 23 * 3600 })
    open.clock.advance(23 * 3_600_000)
    await another()
  })

  it('I-02 refuses a key from the moment it is revoked', async () => {
    const { secret, apiKey } = (await run(owner, create, { input })).data().createApiKey
    const other = userViewer(made.users['out@other.test']!, made.organizations.other!, ['owner'])
    expect((await run(other, revoke, { id: apiKey.id })).code).toBe('NOT_FOUND')
    expect((await run(member, revoke, { id: apiKey.id })).code).toBe('FORBIDDEN')
    expect(await use(secret)).toBeDefined()
    open.clock.advance(1000)
    const at = open.clock.now().toISOString()
    expect((await run(owner, revoke, { id: apiKey.id })).data().revokeApiKey.revokedAt).toBe(at)
    open.clock.advance(1000)
    expect((await run(owner, revoke, { id: apiKey.id })).data().revokeApiKey.revokedAt).toBe(at)
    expect(await use(secret)).toBeUndefined()
    expect((await open.identity.authority.keysById([apiKey.id])).size).toBe(0)
    const [audit] = await open.database.sequelize.query("select action from identity.audit_entries where action like 'api_key.%' order by at, id")
    expect(audit).toEqual([{ action: 'api_key.created' }, { action: 'api_key.revoked' }])
  })

  it('I-02 refuses a key from the moment it expires', async () => {
    const expiresAt = new Date(open.clock.now().getTime() + 60_000).toISOString()
    const { secret } = (await run(owner, create, { input: { ...input, expiresAt } })).data().createApiKey
    expect((await use(secret))!.expiresAt).toEqual(new Date(expiresAt))
    open.clock.advance(60_000)
    expect(await use(secret)).toBeUndefined()
    expect((await run(owner, create, { input: { ...input, expiresAt } })).code).toBe('BAD_USER_INPUT')
  })

  it('I-02 notes the last use at most once a minute', async () => {
    const { keyId } = (await use(made.keys.reader!.secret!))!
    const touch = () =>
      countStatements(async () => {
        open.identity.authority.touchKeys([keyId, keyId])
      })
    const lastUsed = async () => (await run(owner, list)).data().apiKeys.nodes[0].lastUsedAt
    const first = open.clock.now().toISOString()
    expect((await touch()).statements.length).toBeLessThanOrEqual(1)
    await expect.poll(lastUsed).toBe(first)
    open.clock.advance(59_000)
    expect((await touch()).statements).toHaveLength(0)
    open.clock.advance(1_000)
    await touch()
    await expect.poll(lastUsed).toBe(open.clock.now().toISOString())
  })

  it('looks up any number of keys with one prepared statement', async () => {
    const { authority } = open.identity
    const hashes = Array.from({ length: 50 }, (_, at) => authority.hashKey(`unknown ${at}`))
    await authority.keys(hashes)
    const { statements } = await countStatements(() => authority.keys([...hashes, authority.hashKey(made.keys.reader!.secret!)]))
    expect(statements).toHaveLength(1)
    expect((await authority.keys([])).size).toBe(0)
  })

  it('D13 makes one key for one idempotency key, and does not show its clear text again', async () => {
    const once = { ...input, idempotencyKey: 'the same' }
    const answers = await Promise.all([run(owner, create, { input: once }), run(owner, create, { input: once })])
    const made = answers.map(answer => answer.data().createApiKey)
    expect(made[0].apiKey.id).toBe(made[1].apiKey.id)
    expect(made.filter(({ secret }) => secret !== null)).toHaveLength(1)
    expect((await run(owner, list)).data().apiKeys.totalCount).toBe(2)
  })
  it('answers a repetition with the key as it is, and refuses the same idempotency key for another one', async () => {
    const expiresAt = new Date(open.clock.now().getTime() + 60_000).toISOString()
    const once = { ...input, expiresAt, idempotencyKey: 'the same' }
    const first = (await run(owner, create, { input: once })).data().createApiKey
    open.clock.advance(120_000)
    const again = { ...once, name: ` ${input.name} `, scopes: input.scopes.toReversed() }
    expect((await run(owner, create, { input: again })).data().createApiKey).toEqual({ secret: null, apiKey: first.apiKey })
    for (const other of [{ name: 'exporter' }, { scopes: ['publishing:posts.read'] }, { expiresAt: null }])
      expect((await run(owner, create, { input: { ...once, ...other } })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
    const admin = userViewer(made.users['admin@acme.test']!, made.organizations.acme!, ['admin'])
    expect((await run(admin, create, { input: { ...input, idempotencyKey: 'the same' } })).data().createApiKey.secret).toMatch(/^sgk_/)
  })
  it('knows an idempotency key of the same person in another organization, and makes nothing there', async () => {
    const once = { ...input, idempotencyKey: 'the same' }
    const { apiKey } = (await run(owner, create, { input: once })).data().createApiKey
    const elsewhere = userViewer(owner.userId!, made.organizations.other!, ['owner'])
    expect((await run(elsewhere, create, { input: once })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
    expect((await run(elsewhere, list)).data().apiKeys.totalCount).toBe(0)
    expect((await run(owner, create, { input: once })).data().createApiKey).toMatchObject({ secret: null, apiKey: { id: apiKey.id } })
  })
})
