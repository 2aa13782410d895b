import { randomBytes } from 'node:crypto'
import { createLocalJWKSet, decodeProtectedHeader, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createCipher } from '../../../../platform/cipher.ts'
import { newId } from '../../../../platform/ids.ts'
import { define } from '../../../../subgraphs/identity/definition.ts'
import type { Identity } from '../../../../subgraphs/identity/nouns/identity.ts'
import type { Provisioned } from '../../../../subgraphs/identity/setup/provision.ts'
import { countStatements } from '../../../kit/statements.ts'
import { cipher, cookieOf, execute, freshIdentity, origin, requestSignIn, secret, userViewer, world } from '../identity-world.ts'

describe('signing keys', () => {
  const open = freshIdentity()
  let made: Provisioned

  beforeEach(async () => {
    made = await open.identity.provision(world)
  })

  const chief = () => userViewer(made.users['super@admin.test']!, made.organizations.admin!, ['platform_super_admin'])
  const turn = (distrust: boolean) =>
    execute(open.identity, chief(), 'mutation($d: Boolean) { rotateSigningKey(input: { distrust: $d }) { kid algorithm current retiredAt } }', { d: distrust })
  const list = async () => (await execute(open.identity, chief(), '{ signingKeys { kid current retiredAt createdAt } }')).data().signingKeys
  const enter = async (identity: Identity = open.identity) => {
    const answer = await requestSignIn(identity, 'owner@acme.test')
    const { accessToken } = (await answer.json()) as { accessToken: string }
    return { token: accessToken, cookie: cookieOf(answer), kid: decodeProtectedHeader(accessToken).kid }
  }
  const verify = async (token: string, { authority }: Identity = open.identity) => jwtVerify(token, createLocalJWKSet(await authority.jwks()), authority)
  const sql = async <Found>(text: string) => (await open.database.sequelize.query(text))[0] as Found[]
  /** One more process of identity on the same database. */
  function another(keys: typeof cipher): Identity {
    const identity = define({ ...open.anotherProcess(), cipher: keys }, open.settings)
    onTestFinished(() => identity.stop())
    return identity
  }

  it('are rotated by the super admin: new tokens name the new one, and older tokens are valid until they expire', async () => {
    const before = await enter()
    open.clock.advance(1000)
    const turned = (await turn(false)).data().rotateSigningKey
    expect(turned).toMatchObject({ algorithm: 'EdDSA', current: true, retiredAt: null })
    const after = await enter()
    expect([after.kid, before.kid === turned.kid]).toEqual([turned.kid, false])
    for (const { token } of [before, after]) await verify(token)
    expect(await list()).toMatchObject([
      { kid: turned.kid, current: true, retiredAt: null },
      { kid: before.kid, current: false, retiredAt: expect.any(String) },
    ])
    const [line] = await sql("select tenant_id, actor, subject_id, details from identity.audit_entries where action = 'signing_key.rotated'")
    const actor = `user:${made.users['super@admin.test']}`
    expect(line).toEqual({ tenant_id: made.organizations.admin, actor, subject_id: turned.kid, details: { distrust: false } })
  })

  it('that are distrusted verify nothing any more, and are no longer published', async () => {
    const before = await enter()
    await turn(false)
    const turned = (await turn(true)).data().rotateSigningKey
    await expect(verify(before.token)).rejects.toThrow()
    expect((await list()).map(({ kid }: { kid: string }) => kid)).toEqual([turned.kid])
  })

  it('after 20 concurrent rotations one signs; more in a day are rejected, unless keys are distrusted', async () => {
    await enter()
    const turns = await Promise.all(Array.from({ length: 20 }, () => turn(false)))
    expect(turns.filter(({ code }) => code === undefined)).toHaveLength(19)
    expect(turns.find(({ code }) => code !== undefined)!.code).toBe('RATE_LIMITED')
    expect((await list()).filter(({ retiredAt }: { retiredAt: string | null }) => retiredAt === null)).toHaveLength(1)
    expect((await turn(true)).code).toBeUndefined()
    expect(await list()).toHaveLength(1)
  })

  it('retire by themselves after 90 days, and are published for a day more', async () => {
    const { kid, token } = await enter()
    open.clock.advance(90 * 86_400_000)
    const next = await enter()
    expect(next.kid).not.toBe(kid)
    expect((await list()).map((key: { kid: string }) => key.kid)).toEqual([next.kid, kid])
    open.clock.advance(86_400_000)
    expect((await list()).map((key: { kid: string }) => key.kid)).toEqual([next.kid])
    await expect(verify(token)).rejects.toThrow()
  })

  it('are encrypted with ENCRYPTION_KEYS, each bound to its row', async () => {
    const { kid } = await enter()
    const [row] = await sql<{ id: string; private_key: string }>('select id, private_key from identity.signing_keys')
    expect(row!.private_key).toMatch(/^v1\.k1\./)
    expect(JSON.parse(cipher.open(row!.private_key, `signing-key:${kid}`))).toMatchObject({ kty: 'OKP', crv: 'Ed25519', d: expect.any(String) })
    expect(() => cipher.open(row!.private_key, `signing-key:${newId(new Date())}`)).toThrow()
  })

  it('that cannot be decrypted sign nothing: a new one does, and all accept its tokens', async () => {
    const before = await enter()
    open.clock.advance(1000)
    const identity = another(createCipher([{ id: 'k2', key: randomBytes(32) }]))
    const there = await enter(identity)
    const here = await enter()
    // Each signs with the newest that it can open, and no more are made by that.
    expect([there.kid === before.kid, here.kid, (await enter(identity)).kid]).toEqual([false, before.kid, there.kid])
    for (const { token } of [before, there, here]) await verify(token, identity)
    await identity.start()
    await identity.ready!()
  })

  it('of a version before, encrypted with AUTH_SECRET, are sealed at the first start: tokens and sessions go on', async () => {
    const before = await enter()
    const { symmetricEncrypt } = await import('better-auth/crypto')
    const [row] = await sql<{ id: string; private_key: string }>('select id, private_key from identity.signing_keys')
    const old = JSON.stringify(await symmetricEncrypt({ key: secret, data: cipher.open(row!.private_key, `signing-key:${row!.id}`) }))
    await open.database.sequelize.query('update identity.signing_keys set private_key = $1', { bind: [old] })
    await sql('delete from identity.secret_in_use')
    const identities = [another(cipher), another(cipher), another(cipher)]
    const entered = await Promise.all(identities.map(identity => enter(identity)))
    expect(entered.map(({ kid }) => kid)).toEqual([before.kid, before.kid, before.kid])
    expect((await sql<{ private_key: string }>('select private_key from identity.signing_keys')).map(key => key.private_key.slice(0, 6))).toEqual(['v1.k1.'])
    expect(await identities[0]!.authority.cookie(new Headers({ cookie: before.cookie }))).toMatchObject({ userId: made.users['owner@acme.test'] })
  })

  it('of an earlier version and another AUTH_SECRET are deleted, with every session', async () => {
    const before = await enter()
    const { publicKey } = await generateKeyPair('EdDSA', { extractable: true })
    await open.database.sequelize.query(`update identity.signing_keys set private_key = '"00"', public_key = $1`, {
      bind: [JSON.stringify(await exportJWK(publicKey))],
    })
    await sql('delete from identity.secret_in_use')
    const identity = another(cipher)
    const after = await enter(identity)
    expect(after.kid).not.toBe(before.kid)
    expect(await identity.authority.cookie(new Headers({ cookie: before.cookie }))).toBe('stale')
  })

  it('signing a token costs two statements: the session, and the present key', async () => {
    const { cookie } = await enter()
    const renew = () => open.identity.http(new Request(`${origin}/identity/api/auth/token`, { headers: { cookie } }))
    await renew()
    expect((await countStatements(renew)).statements).toHaveLength(2)
  })
})
