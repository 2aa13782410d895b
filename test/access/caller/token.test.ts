import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../platform/clock.ts'
import { createTokenReader } from '../../../router/access/token.ts'

/** Identity as the reader of tokens sees it: it publishes keys, and they can change. */
async function identity() {
  const clock = createBoundClock(new Date('2027-03-01T09:00:00.000Z'))
  const published: JWK[] = []
  const secrets = new Map<string, CryptoKey>()
  let [asked, elapsed] = [0, 0]
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
        return { keys: [...published] }
      },
    },
    clock,
    () => elapsed,
  )
  return {
    read,
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

  test('that are new count at once, and unknown ones make nobody ask for each', async () => {
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

  test('are asked for once a second at most by those who know them', async () => {
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
})
