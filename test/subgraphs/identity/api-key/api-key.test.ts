import { beforeEach, describe, expect, it } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { registration } from '../../../../subgraphs/identity/registration.ts'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import type { Scope } from '../../../../subgraphs/scopes.ts'
import type { Viewer } from '../../../../subgraphs/viewer.ts'
import { countStatements } from '../../../kit/statements.ts'
import { together } from '../../../kit/together.ts'
import { key } from '../../../kit/viewers.ts'
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

  const viewerOf = (email: string) => made.users[email]!
  const organizationOf = (slug: string) => made.organizations[slug]!
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
    expect(await use(secret)).toEqual({
      keyId: apiKey.id,
      organizationId: owner.organizationId,
      userId: null,
      scopes: apiKey.scopes,
      rateLimit: 600,
      expiresAt: null,
    })
    expect(await use(`${secret}x`)).toBeUndefined()
  })

  it('I-02 belongs to one service, whichever form its scopes have, and shows its rate limit', async () => {
    const shown = '{ scopes service { slug } state rateLimit rotatedAt previousPrefix previousEndsAt serviceAccount { id } }'
    const make = `mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey ${shown} } }`
    await open.identity.registerServices([{ ...registration, slug: 'publishing', appId: 'app_publishing' }], {})
    const plain = { scopes: ['publishing:posts.read'], service: { slug: 'publishing' }, state: 'ACTIVE', rateLimit: 600 }
    const none = { rotatedAt: null, previousPrefix: null, previousEndsAt: null, serviceAccount: null }
    for (const asked of [
      { service: 'publishing', scopes: ['posts.read'] },
      { service: 'publishing', scopes: ['posts:read'] },
      { scopes: ['publishing:posts.read'] },
    ])
      expect((await run(owner, make, { input: { name: 'one', ...asked } })).data().createApiKey.apiKey).toEqual({ ...plain, ...none })
    const rare = await run(owner, make, { input: { ...input, rateLimit: 1 } })
    expect(rare.data().createApiKey.apiKey.rateLimit).toBe(1)
    for (const wrong of [
      { rateLimit: 0 },
      { rateLimit: 6001 },
      { service: 'nowhere' },
      { service: 'launcher' },
      { scopes: ['publishing:posts.read', 'launcher:apps.read'] },
    ])
      expect((await run(owner, make, { input: { ...input, ...wrong } })).code, JSON.stringify(wrong)).toBe('BAD_USER_INPUT')
  })

  it('I-02 accepts scopes of the catalogue only, and none that the creator lacks', async () => {
    const of = (...scopes: string[]) => run(owner, create, { input: { ...input, scopes } })
    expect((await of()).code).toBe('BAD_USER_INPUT')
    for (const name of ['posts.read', 'publishing:posts.*', 'publishing:*', 'publishing:posts:read', 'publishing:posts.read:123', 'identity:users.read'])
      expect((await of(name)).code, name).toBe('BAD_USER_INPUT')
    const admin = { ...owner, scopes: ['publishing:posts.read', 'publishing:api_keys.write'] }
    expect((await run(admin, create, { input })).code).toBe('FORBIDDEN')
    expect((await run(member, create, { input })).code).toBe('FORBIDDEN')
    expect((await run(member, list)).code).toBe('FORBIDDEN')
  })

  it('rejects keys above the organization’s maximum, and above the daily number for a while', async () => {
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

  it('gives the last slot to one of two concurrent creations', async () => {
    const another = () => run(owner, create, { input })
    while ((await run(owner, list)).data().apiKeys.totalCount < quotas.keysAnOrganization - 1) await another()
    const made = await together(open.database.url, 'identity.audit_entries', another, another)
    expect(made.map(answer => (answer instanceof Error ? answer.message : (answer.code ?? 'made'))).sort()).toEqual(['CONFLICT', 'made'])
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

  it('I-02 records the last use at most once a minute', async () => {
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

  it('D13 creates one key for one idempotency key, and does not show its clear text again', async () => {
    const once = { ...input, idempotencyKey: 'the same' }
    const answers = await Promise.all([run(owner, create, { input: once }), run(owner, create, { input: once })])
    const made = answers.map(answer => answer.data().createApiKey)
    expect(made[0].apiKey.id).toBe(made[1].apiKey.id)
    expect(made.filter(({ secret }) => secret !== null)).toHaveLength(1)
    expect((await run(owner, list)).data().apiKeys.totalCount).toBe(2)
  })
  it('returns the present key for a repetition, and rejects the idempotency key for another one', async () => {
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
  it('reports an idempotency key that the same person used in another organization, and creates nothing', async () => {
    const once = { ...input, idempotencyKey: 'the same' }
    const { apiKey } = (await run(owner, create, { input: once })).data().createApiKey
    const elsewhere = userViewer(owner.userId!, made.organizations.other!, ['owner'])
    expect((await run(elsewhere, create, { input: once })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
    expect((await run(elsewhere, list)).data().apiKeys.totalCount).toBe(0)
    expect((await run(owner, create, { input: once })).data().createApiKey).toMatchObject({ secret: null, apiKey: { id: apiKey.id } })
  })

  describe('rotated', () => {
    const turn = `mutation($input: RotateApiKeyInput!) { rotateApiKey(input: $input) {
      secret apiKey { id name scopes prefix rateLimit expiresAt rotatedAt previousPrefix previousEndsAt }
    } }`
    const rotate = async (id: string, more: object = {}, viewer = owner) => run(viewer, turn, { input: { id, ...more } })
    const made = async (more: object = {}) => (await run(owner, create, { input: { ...input, ...more } })).data().createApiKey
    const working = async (...secrets: readonly string[]) => {
      const { authority } = open.identity
      const found = await authority.keys(secrets.map(authority.hashKey))
      return secrets.map(secret => found.has(authority.hashKey(secret)))
    }

    it('I-02 keeps its id and scopes and has two secrets, of which the former is valid for the grace period', async () => {
      const first = await made({ rateLimit: 7 })
      const at = open.clock.now()
      const second = (await rotate(first.apiKey.id, { graceSeconds: 60 })).data().rotateApiKey
      expect(second.apiKey).toMatchObject({ id: first.apiKey.id, name: 'importer', scopes: first.apiKey.scopes, rateLimit: 7, expiresAt: null })
      expect(second.apiKey).toMatchObject({ rotatedAt: at.toISOString(), previousPrefix: first.apiKey.prefix, prefix: second.secret.slice(0, 12) })
      expect(second.apiKey.previousEndsAt).toBe(new Date(at.getTime() + 60_000).toISOString())
      expect((await use(first.secret))!.expiresAt).toEqual(new Date(at.getTime() + 60_000))
      expect((await use(second.secret))!).toMatchObject({ keyId: first.apiKey.id, expiresAt: null, rateLimit: 7 })
      open.clock.advance(59_999)
      expect(await working(first.secret, second.secret)).toEqual([true, true])
      open.clock.advance(1)
      expect(await working(first.secret, second.secret)).toEqual([false, true])
      const shown = (await run(owner, '{ apiKeys { nodes { previousPrefix previousEndsAt } } }')).data().apiKeys.nodes[0]
      expect(shown).toEqual({ previousPrefix: null, previousEndsAt: null })
    })

    it('I-02 ends the oldest at once when it is rotated again, and the former without a grace', async () => {
      const first = await made()
      const second = (await rotate(first.apiKey.id)).data().rotateApiKey
      const third = (await rotate(first.apiKey.id)).data().rotateApiKey
      expect(await working(first.secret, second.secret, third.secret)).toEqual([false, true, true])
      const fourth = (await rotate(first.apiKey.id, { graceSeconds: 0 })).data().rotateApiKey
      expect(await working(second.secret, third.secret, fourth.secret)).toEqual([false, false, true])
      expect(fourth.apiKey).toMatchObject({ previousPrefix: null, previousEndsAt: null })
    })

    it('I-02 has two valid secrets after twenty concurrent rotations, and one audit entry for each', async () => {
      const first = await made()
      const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(first.apiKey.id)))
      const secrets = answers.map(answer => answer.data().rotateApiKey.secret as string)
      expect(new Set(secrets).size).toBe(20)
      expect((await working(first.secret, ...secrets)).filter(Boolean)).toHaveLength(2)
      const [audit] = await open.database.sequelize.query("select details from identity.audit_entries where action = 'api_key.rotated'")
      expect(audit).toEqual(Array(20).fill({ details: { service: 'publishing', graceSeconds: 86_400 } }))
    })

    it('I-02 once for an idempotency key, and shows the secret to the first caller only', async () => {
      const first = await made()
      const once = { idempotencyKey: 'again and again' }
      const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(first.apiKey.id, once)))
      const secrets = answers.map(answer => answer.data().rotateApiKey.secret).filter(secret => secret !== null)
      expect(secrets).toHaveLength(1)
      expect(await working(first.secret, secrets[0])).toEqual([true, true])
      for (const other of [{ graceSeconds: 5 }, { id: (await made()).apiKey.id }])
        expect((await rotate(first.apiKey.id, { ...once, ...other })).error?.extensions).toMatchObject({ code: 'CONFLICT', reason: 'KEY_REUSED' })
      // The same text may make a key: it is another thing.
      expect((await made(once)).secret).toMatch(/^sgk_/)
    })

    it('I-02 ends with both secrets when it is revoked, also during a rotation', async () => {
      const first = await made()
      const rotating = Array.from({ length: 10 }, () => rotate(first.apiKey.id))
      const [, ...answers] = await Promise.all([run(owner, revoke, { id: first.apiKey.id }), ...rotating])
      const secrets = answers.flatMap(answer => answer.partial.data?.rotateApiKey?.secret ?? [])
      expect(answers.filter(answer => answer.code === 'CONFLICT')).toHaveLength(10 - secrets.length)
      expect((await working(first.secret, ...secrets)).some(Boolean)).toBe(false)
      expect((await rotate(first.apiKey.id)).code).toBe('CONFLICT')
    })

    it('I-02 not once it has expired, and no secret works longer than the key', async () => {
      const expiresAt = new Date(open.clock.now().getTime() + 30_000).toISOString()
      const first = await made({ expiresAt })
      const second = (await rotate(first.apiKey.id)).data().rotateApiKey
      expect(second.apiKey).toMatchObject({ expiresAt, previousEndsAt: expiresAt })
      open.clock.advance(30_000)
      expect(await working(first.secret, second.secret)).toEqual([false, false])
      expect((await rotate(first.apiKey.id)).code).toBe('CONFLICT')
    })

    it('I-02 can be rotated by managers of its own organization', async () => {
      const { apiKey } = await made()
      const other = userViewer(viewerOf('out@other.test'), organizationOf('other'), ['owner'])
      expect((await rotate(apiKey.id, {}, other)).code).toBe('NOT_FOUND')
      expect((await rotate(apiKey.id, {}, member)).code).toBe('FORBIDDEN')
      expect((await rotate('nonsense')).code).toBe('BAD_USER_INPUT')
      for (const graceSeconds of [-1, 604_801]) expect((await rotate(apiKey.id, { graceSeconds })).code).toBe('BAD_USER_INPUT')
    })
  })

  describe('managed by keys', () => {
    const turn = 'mutation($id: ID!) { rotateApiKey(input: { id: $id }) { secret } }'
    const program = (...scopes: Scope[]) => key(owner.organizationId!, scopes)
    const maker = () => program('publishing:api_keys.write', 'publishing:posts.read')
    const of = async (viewer: Viewer, more: object) => run(viewer, create, { input: { name: 'x', scopes: ['publishing:posts.read'], ...more } })
    const idOf = async (...scopes: Scope[]) => (await of(owner, { scopes })).data().createApiKey.apiKey.id as string

    it('P-22 creates keys of its service with no scope that it lacks', async () => {
      expect((await of(maker(), {})).data().createApiKey).toMatchObject({ secret: expect.stringMatching(/^sgk_/), apiKey: { createdBy: null } })
      for (const scopes of [['publishing:posts.write'], ['launcher:apps.read'], ['publishing:posts.read', 'publishing:posts.write']])
        expect((await of(maker(), { scopes })).code, scopes.join()).toBe('FORBIDDEN')
      expect((await of(program('publishing:api_keys.write', 'payments:payments.read'), { scopes: ['payments:payments.read'] })).code).toBe('FORBIDDEN')
      expect((await of(program('publishing:posts.read'), {})).code).toBe('FORBIDDEN')
      expect((await of(maker(), { serviceAccountId: newId() })).code).toBe('FORBIDDEN')
    })

    it('P-22 sees and changes keys of its service only; others are not found', async () => {
      const [ours, theirs] = [await idOf('publishing:posts.read'), await idOf('launcher:apps.read')]
      const ids = (await run(maker(), '{ apiKeys { totalCount nodes { id } } }')).data().apiKeys
      expect([ids.totalCount, ids.nodes.map(({ id }: { id: string }) => id)]).toEqual([2, expect.arrayContaining([ours])])
      expect((await run(maker(), '{ apiKeys(service: "launcher") { totalCount } }')).data().apiKeys.totalCount).toBe(0)
      for (const document of [turn, revoke]) {
        expect((await run(maker(), document, { id: theirs })).code).toBe('NOT_FOUND')
        expect((await run(key(made.organizations.other!, maker().scopes as Scope[]), document, { id: ours })).code).toBe('NOT_FOUND')
      }
      expect((await run(maker(), revoke, { id: ours })).data().revokeApiKey.revokedAt).not.toBeNull()
    })

    it('gets no secret of a key that may do more than it', async () => {
      const more = await idOf('publishing:posts.read', 'publishing:posts.write')
      expect((await run(maker(), turn, { id: more })).code).toBe('FORBIDDEN')
      expect((await run(maker(), turn, { id: await idOf('publishing:posts.read') })).data().rotateApiKey.secret).toMatch(/^sgk_/)
    })

    it('finds keys of before that have scopes of several services with managers alone', async () => {
      const id = await idOf('publishing:posts.read')
      await open.database.sequelize.query(
        `update identity.api_keys set service = null, scopes = '{launcher:apps.read,publishing:posts.read}' where id = '${id}'`,
      )
      expect((await run(maker(), revoke, { id })).code).toBe('NOT_FOUND')
      expect((await run(owner, '{ apiKeys { nodes { id service { slug } } } }')).data().apiKeys.nodes).toContainEqual({ id, service: null })
    })
  })

  describe('of a service account', () => {
    const account = newId()
    const join = async (slug = 'acme', roles = 'member') => {
      await open.database.sequelize.query(
        `insert into identity.users (id, name, email_verified, kind, created_at, updated_at) values ('${account}', 'Robot', false, 'service_account', now(), now());
         insert into identity.memberships (organization_id, id, user_id, roles, created_at, updated_at, created_by)
           values ('${organizationOf(slug)}', '${newId()}', '${account}', '{${roles}}', now(), now(), 'platform')`,
      )
    }
    const make = (more: object = {}) => run(owner, create, { input: { ...input, serviceAccountId: account, ...more } })

    it('acts as the account, with the scopes that the account’s roles give at that moment', async () => {
      await join()
      const { secret, apiKey } = (await make({ scopes: ['publishing:accounts.write', 'publishing:posts.write'] })).data().createApiKey
      expect(await use(secret)).toMatchObject({ keyId: apiKey.id, userId: account, scopes: ['publishing:posts.write'] })
      await open.database.sequelize.query(`update identity.memberships set roles = '{viewer}' where user_id = '${account}'`)
      expect((await use(secret))!.scopes).toEqual([])
      await open.database.sequelize.query(`update identity.users set suspended_at = now() where id = '${account}'`)
      expect(await use(secret)).toBeUndefined()
      await open.database.sequelize.query(`update identity.users set suspended_at = null where id = '${account}'`)
      expect(await use(secret)).toBeDefined()
      await open.database.sequelize.query(`delete from identity.memberships where user_id = '${account}'`)
      expect(await use(secret)).toBeUndefined()
    })

    it('is revoked with the account that leaves the organization', async () => {
      const added = (await run(owner, 'mutation { createServiceAccount(input: { name: "Robot", roles: [MEMBER] }) { id user { id } } }')).data()
        .createServiceAccount
      const { secret, apiKey } = (await make({ serviceAccountId: added.user.id })).data().createApiKey
      expect(await use(secret)).toMatchObject({ userId: added.user.id })
      expect((await run(owner, 'mutation($id: ID!) { removeMember(input: { id: $id }) { id } }', { id: added.id })).code).toBeUndefined()
      expect(await use(secret)).toBeUndefined()
      expect((await run(owner, '{ apiKeys(state: REVOKED) { nodes { id } } }')).data().apiKeys.nodes).toEqual([{ id: apiKey.id }])
    })

    it('is shown with it, and rotated by managers alone', async () => {
      await join()
      const { apiKey } = (await make()).data().createApiKey
      const shown = (await run(owner, '{ apiKeys { nodes { id serviceAccount { id name } } } }')).data().apiKeys.nodes
      expect(shown).toContainEqual({ id: apiKey.id, serviceAccount: { id: account, name: 'Robot' } })
      const program = key(owner.organizationId!, ['publishing:api_keys.write', ...(input.scopes as Scope[])])
      expect((await run(program, 'mutation($id: ID!) { rotateApiKey(input: { id: $id }) { secret } }', { id: apiKey.id })).code).toBe('FORBIDDEN')
    })

    it('is created only for a service account of the organization', async () => {
      expect((await make()).code).toBe('NOT_FOUND')
      expect((await make({ serviceAccountId: made.users['ada@acme.test'] })).code).toBe('NOT_FOUND')
      expect((await make({ serviceAccountId: 'robot' })).code).toBe('BAD_USER_INPUT')
      await join('other')
      expect((await make()).code).toBe('NOT_FOUND')
    })
  })

  it('I-02 are listed by service and state, page by page, with one statement a page', async () => {
    const make = async (more: object = {}) => (await run(owner, create, { input: { ...input, ...more } })).data().createApiKey.apiKey.id as string
    const [first, second] = [await make(), await make({ scopes: ['launcher:apps.read'] })]
    open.clock.advance(1)
    const third = await make({ expiresAt: new Date(open.clock.now().getTime() + 1000).toISOString() })
    await run(owner, revoke, { id: first })
    open.clock.advance(1000)
    const found = async (arguments_: string) =>
      (await run(owner, `{ apiKeys(${arguments_}) { nodes { id } } }`)).data().apiKeys.nodes.map(({ id }: { id: string }) => id)
    expect(await found('state: REVOKED')).toEqual([first])
    expect(await found('state: EXPIRED')).toEqual([third])
    expect(await found('service: "launcher"')).toEqual([second])
    expect(await found('service: "launcher", state: REVOKED')).toEqual([])
    expect(await found('service: "publishing"')).toHaveLength(3)
    const page = '{ apiKeys(first: 2, after: AFTER) { pageInfo { endCursor } nodes { id state } } }'
    const one = (await run(owner, page.replace('AFTER', 'null'))).data().apiKeys
    const { result, statements } = await countStatements(() => run(owner, page.replace('AFTER', JSON.stringify(one.pageInfo.endCursor))))
    expect(statements).toHaveLength(1)
    const all = [...one.nodes, ...result.data().apiKeys.nodes]
    expect(all.map(({ id }) => id)).toEqual([third, second, first, made.keys.reader!.id].sort((a, b) => (a === third ? -1 : b === third ? 1 : a < b ? 1 : -1)))
    expect(all.map(({ state }) => state).sort()).toEqual(['ACTIVE', 'ACTIVE', 'EXPIRED', 'REVOKED'])
    expect((await run(owner, '{ apiKeys(service: "nowhere") { totalCount } }')).code).toBe('BAD_USER_INPUT')
  })
})
