import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { define } from '../../../../subgraphs/identity/definition.ts'
import type { Identity } from '../../../../subgraphs/identity/nouns/identity.ts'
import { cookieOf, freshIdentity, requestSignIn, world } from '../identity-world.ts'

describe('a changed AUTH_SECRET', () => {
  const open = freshIdentity()

  beforeEach(() => open.identity.provision(world))

  const another = 'another secret of the tests, as long as it must be'
  /** One more process of identity on the same database. */
  function identityWith(secret: string): Identity {
    const identity = define(open.anotherProcess(), { ...open.settings, secret })
    onTestFinished(() => identity.stop())
    return identity
  }
  async function signIn(identity: Identity) {
    const answer = await requestSignIn(identity, 'owner@acme.test')
    expect(answer.status).toBe(200)
    const { accessToken: token } = (await answer.json()) as { accessToken: string }
    return { token, cookie: cookieOf(answer) }
  }
  const verify = async (token: string, { authority }: Identity) => jwtVerify(token, createLocalJWKSet(await authority.jwks()), authority)
  const count = async (table: string) => ((await open.database.sequelize.query(`select count(*)::int as n from identity.${table}`))[0] as { n: number }[])[0]!.n

  it('ends every session, and signing in works', async () => {
    const before = await signIn(open.identity)
    const identity = identityWith(another)
    await expect(verify(before.token, identity)).rejects.toThrow()
    expect(await identity.authority.cookie(new Headers({ cookie: before.cookie }))).toBe('stale')
    const { sid } = decodeJwt(before.token)
    expect(await identity.authority.sessions([sid as string])).toEqual(new Map())
    const after = await signIn(identity)
    expect((await verify(after.token, identity)).payload.sub).toBe(decodeJwt(before.token).sub)
    await identity.start()
    await identity.ready!()
  })

  it('is applied once by several processes that have it, which then accept each other’s tokens', async () => {
    await signIn(open.identity)
    const identities = [identityWith(another), identityWith(another), identityWith(another)]
    const signedIn = await Promise.all(identities.map(identity => signIn(identity)))
    expect([await count('signing_keys'), await count('sessions')]).toEqual([1, 3])
    for (const { token } of signedIn) for (const identity of identities) await verify(token, identity)
  })

  it('makes a process that still has the old one not ready, because it cannot sign', async () => {
    await signIn(open.identity)
    await open.identity.start()
    await open.identity.ready!()
    await signIn(identityWith(another))
    await expect(open.identity.ready!()).rejects.toThrow()
    await expect(open.identity.authority.ready()).rejects.toThrow()
  })

  it('leaves keys and sessions alone when it is the same', async () => {
    const before = await signIn(open.identity)
    await open.identity.rotateSigningKeys()
    const identity = identityWith(open.settings.secret)
    await signIn(identity)
    await verify(before.token, identity)
    expect([await count('signing_keys'), await count('sessions')]).toEqual([2, 2])
  })
})
