import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../platform/clock.ts'
import { createTokenReader } from '../../../router/access/token.ts'

/** Identity as the reader of tokens sees it: it publishes keys, and they can change. */
async function identity() {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const published: JWK[] = []
  const secrets = new Map<string, CryptoKey>()
  let [asked, elapsed, isDown] = [0, 0, false]
  const addKey = async (kid: string) => {
    const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true })
    published.push({ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA', use: 'sig' })
    secrets.set(kid, privateKey)
  }
  await addKey('first')
  const read = createTokenReader(
    {
      issuer: 'https://platform.test',
      audience: 'supergraph',
      async jwks() {
        asked += 1
        if (isDown) throw new Error('down')
        return { keys: [...published] }
      },
    },
    clock,
    () => elapsed,
  )
  return {
    read,
    clock,
    fail: (state: boolean) => {
      isDown = state
    },
    addKey,
    asked: () => asked,
    pass: (milliseconds: number) => {
      elapsed += milliseconds
    },
    distrust: () => published.splice(0),
    token: (kid: string, seconds = 600, claims: Record<string, unknown> = {}) =>
      new SignJWT({
        sid: 'session-1',
        sub: 'user-1',
        iss: 'https://platform.test',
        aud: 'supergraph',
        exp: clock.now().getTime() / 1000 + seconds,
        ...claims,
      })
        .setProtectedHeader({ alg: 'EdDSA', kid })
        .sign(secrets.get(kid)!),
  }
}

test.each<[string, Record<string, unknown>]>([
  ['another audience', { aud: 'elsewhere' }],
  ['no audience', { aud: undefined }],
  ['other audiences', { aud: ['elsewhere', 'nowhere'] }],
  ['another issuer', { iss: 'https://elsewhere.test' }],
  ['no issuer', { iss: undefined }],
  ['no person', { sub: undefined }],
  ['no session', { sid: undefined }],
  ['no end', { exp: undefined }],
])('I-01 a token that names %s is not valid, though the right key signed it', async (_what, claims) => {
  const { read, token } = await identity()
  expect(await read(await token('first'))).toMatchObject({ userId: 'user-1', sessionId: 'session-1' })
  expect(await read(await token('first', 600, claims))).toBe('invalid')
})

describe('the keys of access tokens', () => {
  test('I-01 that identity distrusts open nothing after a second, tokens that were read before included', async () => {
    const { read, addKey, distrust, pass, token } = await identity()
    const [known, unread] = [await token('first', 10 * 365 * 86_400), await token('first')]
    expect(await read(known)).toMatchObject({ userId: 'user-1' })
    distrust()
    await addKey('second')
    pass(1000)
    expect(await read(known)).toBe('invalid')
    expect(await read(unread)).toBe('invalid')
    expect(await read(await token('second'))).toMatchObject({ userId: 'user-1' })
  })

  test('that are new are accepted at once, and unknown ones do not cause a fetch each', async () => {
    const { read, addKey, asked, pass, token } = await identity()
    expect(await read(await token('first'))).toMatchObject({ userId: 'user-1' })
    await addKey('second')
    expect(await read(await token('second'))).toMatchObject({ userId: 'user-1' })
    const stranger = await identity()
    await stranger.addKey('third')
    const foreign = await stranger.token('third')
    const before = asked()
    for (let turn = 0; turn < 20; turn++) expect(await read(foreign)).toBe('invalid')
    expect(asked() - before).toBe(0)
    // After five seconds once more: by then the keys are too old anyway.
    pass(5000)
    for (let turn = 0; turn < 20; turn++) expect(await read(foreign)).toBe('invalid')
    expect(asked() - before).toBe(2)
  })

  test('are fetched at most once a second by known key ids', async () => {
    const { read, asked, pass, token } = await identity()
    const text = await token('first')
    const readOften = () => Promise.all(Array.from({ length: 50 }, () => read(text)))
    await readOften()
    pass(999)
    await readOften()
    expect(asked()).toBe(1)
    pass(1)
    await readOften()
    expect(asked()).toBe(2)
  })

  test('that are unknown cause a fetch five seconds after the last one, and no sooner', async () => {
    const { read, addKey, pass, token } = await identity()
    await read(await token('first'))
    await addKey('second')
    expect(await read(await token('second'))).toMatchObject({ userId: 'user-1' })
    pass(4500)
    await read(await token('first'))
    await addKey('third')
    pass(499)
    expect(await read(await token('third'))).toBe('invalid')
    pass(1)
    expect(await read(await token('third'))).toMatchObject({ userId: 'user-1' })
  })

  test('that change while a token is read take effect: the token is accepted once, and never after', async () => {
    const { read, addKey, distrust, pass, token } = await identity()
    const [known, before] = [await token('first'), await token('first', 500)]
    expect(await read(before)).toMatchObject({ userId: 'user-1' })
    distrust()
    await addKey('second')
    const later = await token('second')
    const underWay = read(known)
    pass(1000)
    expect(await read(later)).toMatchObject({ userId: 'user-1' })
    expect(await underWay).toMatchObject({ userId: 'user-1' })
    expect(await read(known)).toBe('invalid')
  })

  test('that cannot be fetched say nothing about a token, and are fetched again', async () => {
    const { read, addKey, asked, fail, token } = await identity()
    const text = await token('first')
    fail(true)
    await expect(read(text)).rejects.toThrow('down')
    fail(false)
    expect(await read(text)).toMatchObject({ userId: 'user-1' })
    expect(asked()).toBe(2)
    await addKey('second')
    const unknown = await token('second')
    fail(true)
    await expect(read(unknown)).rejects.toThrow('down')
  })
})

describe('the claims of a token', () => {
  const whole = { userId: 'user-1', sessionId: 'session-1', organizationId: null, context: 'personal', roles: [], scopes: null, seenAt: 0, kid: 'first' }
  test.each<[claims: Record<string, unknown>, said: Record<string, unknown> | 'invalid']>([
    [{}, {}],
    [{ org: null, ctx: 'personal', roles: [] }, {}],
    [
      { org: 'org-1', ctx: 'organization', roles: ['owner', 'member'] },
      { organizationId: 'org-1', context: 'organization', roles: ['owner', 'member'] },
    ],
    [{ org: 'org-1', ctx: 'personal' }, { organizationId: 'org-1' }],
    [{ org: 'org-1' }, { organizationId: 'org-1' }],
    [{ org: null, ctx: 'organization' }, {}],
    [{ ctx: 'elsewhere' }, {}],
    [{ org: 7 }, 'invalid'],
    [{ org: ['org-1'] }, 'invalid'],
    [{ roles: 'owner' }, 'invalid'],
    [{ roles: null }, 'invalid'],
    [{ roles: ['owner', 7] }, 'invalid'],
    [{ roles: [7, 'owner'] }, 'invalid'],
    [{ scope: 'openid publishing:posts.read' }, { scopes: ['openid', 'publishing:posts.read'] }],
    [{ scope: 7 }, 'invalid'],
    [{ scope: null }, 'invalid'],
    [{ sid: 7 }, 'invalid'],
    [{ sub: 7 }, 'invalid'],
    [{ exp: 'tomorrow' }, 'invalid'],
  ])('with %j', async (claims, said) => {
    const { read, token, clock } = await identity()
    const expiresAt = new Date(clock.now().getTime() + 600_000)
    expect(await read(await token('first', 600, claims))).toEqual(said === 'invalid' ? said : { ...whole, expiresAt, ...said })
  })

  test('are valid to the millisecond before their end, cached or not', async () => {
    const { read, token, clock } = await identity()
    const [known, later, last] = [await token('first', 600), await token('first', 600, { jti: 'later' }), await token('first', 600, { jti: 'last' })]
    expect(await read(known)).toMatchObject({ userId: 'user-1' })
    clock.advance(599_999)
    for (const text of [known, later]) expect(await read(text)).toMatchObject({ userId: 'user-1' })
    clock.advance(1)
    for (const text of [known, later, last]) expect(await read(text)).toBe('expired')
  })

  test('are cached with the moment of their first reading, for as long as the keys stay the same', async () => {
    const { read, addKey, pass, token } = await identity()
    const text = await token('first')
    pass(5)
    expect(await read(text)).toMatchObject({ seenAt: 5 })
    pass(1000)
    expect(await read(text)).toMatchObject({ seenAt: 5 })
    expect(await read(await token('first', 500))).toMatchObject({ seenAt: 1005 })
    await addKey('second')
    pass(1000)
    expect(await read(text)).toMatchObject({ seenAt: 2005 })
  })

  test.each(['', 'nonsense', 'a.b.c'])('is nothing when it is none: "%s"', async text => {
    const { read } = await identity()
    expect(await read(text)).toBe('invalid')
  })
})
