import { createPrivateKey, randomBytes } from 'node:crypto'
import { SignJWT } from 'jose'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../platform/clock.ts'
import { watchSealTimes } from '../../../router/apart/seal-times.ts'
import { createSeal, publicHalf } from '../../../router/engine/transport/seal.ts'
import { aForward, anAsk, createSealReader, forAsk, forForward, forOperation, isAddressed, isFor, type Purpose } from '../../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'

const newKey = (id: string) => ({ id, key: randomBytes(32) })
const key = newKey('one')
const noon = Date.parse('2026-01-01T12:00:00.000Z')
const at = (ms: number) => createBoundClock(new Date(noon + ms))
const sealAt = (ms: number, viewer: Viewer = { ...anonymous }, by = key) => createSeal(by, at(ms))(viewer, 'posts', forOperation)
const reader = (clock = at(0), keys = [publicHalf(key)]) => {
  const read = createSealReader({ audience: 'posts', keys, clock })
  return (token: unknown, wanted: Purpose = forOperation) => read(token, isFor(wanted))
}
const readerAt = (ms: number, keys = [publicHalf(key)]) => reader(at(ms), keys)
const refused = { extensions: { code: 'UNAUTHENTICATED' } }

describe('D3 a seal', () => {
  // A seal states its time in whole seconds, so a clock slightly behind sees it in the future at the beginning of every
  // second.
  test.for([0, -1, -5, -900, -6000, -29_900, -30_000])('is accepted by a subgraph whose clock differs by %i ms from the router’s', async skew => {
    expect(await readerAt(skew)(await sealAt(0))).toEqual(anonymous)
  })

  test.for([-30_001, -60_000, 60_000, 61_000])('is rejected %i ms after its creation', async age => {
    await expect(readerAt(age)(await sealAt(0))).rejects.toMatchObject(refused)
  })

  test('is valid until its minute is over, also when it was accepted before', async () => {
    const clock = at(0)
    const read = reader(clock)
    const token = await sealAt(0)
    const viewer = await read(token)
    clock.set(new Date(noon + 59_900))
    expect(await read(token)).toBe(viewer)
    clock.set(new Date(noon + 60_000))
    await expect(read(token)).rejects.toMatchObject(refused)
  })

  test('is reused for twenty seconds, and created anew after them or when the clock was set back', async () => {
    const clock = at(0)
    const seal = createSeal(key, clock)
    const viewer = { ...anonymous }
    const first = await seal(viewer, 'posts', forOperation)
    clock.set(new Date(noon + 19_000))
    expect(await seal(viewer, 'posts', forOperation)).toBe(first)
    expect(await seal(viewer, 'people', forOperation)).not.toBe(first)
    clock.set(new Date(noon + 20_000))
    expect(await seal(viewer, 'posts', forOperation)).not.toBe(first)
    clock.set(new Date(noon - 3_600_000))
    expect(await readerAt(-3_600_000)(await seal(viewer, 'posts', forOperation))).toEqual(anonymous)
  })

  test('of the new key is accepted before the old one is removed, and of the old one not after', async () => {
    const next = newKey('two')
    const both = readerAt(0, [publicHalf(key), publicHalf(next)])
    expect(await both(await sealAt(0))).toEqual(anonymous)
    expect(await both(await sealAt(0, anonymous, next))).toEqual(anonymous)
    await expect(readerAt(0, [publicHalf(next)])(await sealAt(0))).rejects.toMatchObject(refused)
    await expect(readerAt(0, [publicHalf(next)])(await sealAt(0, anonymous, { ...key, id: 'two' }))).rejects.toMatchObject(refused)
  })

  test.for<[string, unknown]>([
    ['nothing', undefined],
    ['a list', ['a', 'b']],
    ['an empty text', ''],
    ['two seals in one header', 'a.b.c, d.e.f'],
    ['a token that says it needs no signature', `${btoa('{"alg":"none","kid":"one","typ":"viewer+jwt"}')}.${btoa('{"viewer":{}}')}.`],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('is not %s', async ([, token]) => {
    await expect(readerAt(0)(token)).rejects.toMatchObject(refused)
  })

  test('contains viewers of the known form only', async () => {
    for (const viewer of [{}, { ...anonymous, kind: 'root' }, { ...anonymous, scopes: 'all' }, { ...anonymous, context: 'elsewhere' }, null]) {
      await expect(readerAt(0)(await createSeal(key, at(0))((viewer ?? []) as Viewer, 'posts', forOperation))).rejects.toMatchObject(refused)
    }
  })
})

/** What the router would say, with other words in places, signed with the key that it signs with. */
async function forge(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}): Promise<string> {
  const now = noon / 1000
  const said = {
    viewer: { ...anonymous },
    for: 'operation',
    request: null,
    body: null,
    iss: 'supergraph router',
    aud: 'posts',
    iat: now,
    exp: now + 60,
    jti: 'a',
    ...claims,
  }
  const seed = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), key.key])
  return new SignJWT(said)
    .setProtectedHeader({ alg: 'EdDSA', kid: 'one', typ: 'viewer+jwt', ...header })
    .sign(createPrivateKey({ key: seed, format: 'der', type: 'pkcs8' }))
}

describe('D3 a seal with a valid signature is rejected', () => {
  test('but not when it has the router’s contents', async () => {
    expect(await readerAt(0)(await forge())).toEqual(anonymous)
  })

  test.for<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['of another issuer', { iss: 'supergraph' }],
    ['of no issuer', { iss: undefined }],
    ['for another subgraph', { aud: 'people' }],
    ['for a list of subgraphs', { aud: ['posts'] }],
    ['for this and another subgraph', { aud: ['posts', 'people'] }],
    ['for nobody', { aud: undefined }],
    ['of another type', {}, { typ: 'JWT' }],
    ['of no type', {}, { typ: undefined }],
    ['good for a second more than a minute', { exp: noon / 1000 + 61 }],
    ['good for ever', { exp: undefined }],
    ['made 31 seconds from now', { iat: noon / 1000 + 31, exp: noon / 1000 + 60 }],
    ['made at no time', { iat: undefined }],
    ['made at a time that is none', { iat: 'now' }],
    ['without an id', { jti: undefined }],
    ['for no purpose', { for: undefined }],
    ['for a purpose that nobody knows', { for: 'everything' }],
    ['for a list of purposes', { for: ['operation'] }],
    ['for an operation and a request', { request: 'x' }],
    ['for an operation and a body', { body: 'x' }],
    ['for no request', { for: 'forward', body: 'x' }],
    ['for a request with no body told', { for: 'forward', request: 'x' }],
    ['for an operation that says nothing of bodies', { body: undefined }],
  ])('%s', async ([, claims, header]) => {
    await expect(readerAt(0)(await forge(claims, header))).rejects.toMatchObject(refused)
  })
})

describe('D3 a seal is accepted only for its purpose', () => {
  const purposes: Record<string, Purpose> = {
    'an operation': forOperation,
    'GET /a?b=c': forForward({ method: 'GET', target: '/a?b=c', address: '10.0.0.1' }, ''),
    'POST /a?b=c': forForward({ method: 'POST', target: '/a?b=c', address: '10.0.0.1' }, ''),
    'GET /a': forForward({ method: 'GET', target: '/a', address: '10.0.0.1' }, ''),
    'GET /a of another caller': forForward({ method: 'GET', target: '/a', address: '10.0.0.2' }, ''),
    'GET /a of nobody known': forForward({ method: 'GET', target: '/a', address: '' }, ''),
    'GET /a10.0.0.1 of nobody known': forForward({ method: 'GET', target: '/a10.0.0.1', address: '' }, ''),
    'POST /a?b=c with a body': forForward({ method: 'POST', target: '/a?b=c', address: '10.0.0.1' }, 'text'),
    'the question at POST /a': forAsk('POST', '/a', ''),
    'the question at POST /b': forAsk('POST', '/b', ''),
    'the question at POST /a?b=c': forAsk('POST', '/a?b=c', ''),
    'another question at POST /a': forAsk('POST', '/a', '{}'),
  }
  test.for(Object.keys(purposes))('for %s', async name => {
    const token = await createSeal(key, at(0))({ ...anonymous }, 'posts', purposes[name]!)
    const read = readerAt(0)
    // Twice: what was read before is remembered.
    for (const round of [1, 2])
      for (const [other, wanted] of Object.entries(purposes)) {
        const opened = await read(token, wanted).then(
          () => true,
          () => false,
        )
        expect([round, other, opened]).toEqual([round, other, other === name])
      }
  })

  test('by its header alone, while the body of the request is not read yet', async () => {
    const head = { method: 'POST', target: '/a', address: '10.0.0.1' }
    const read = createSealReader({ audience: 'posts', keys: [publicHalf(key)], clock: at(0) })
    const token = await createSeal(key, at(0))({ ...anonymous }, 'posts', forForward(head, 'text'))
    expect(await read(token, isAddressed(aForward(head)))).toEqual(anonymous)
    for (const other of [aForward({ ...head, target: '/b' }), aForward({ ...head, address: '10.0.0.2' }), anAsk('POST', '/a')])
      await expect(read(token, isAddressed(other))).rejects.toMatchObject(refused)
  })

  test('and only that of an operation is reused', async () => {
    const seal = createSeal(key, at(0))
    const viewer = { ...anonymous }
    expect(await seal(viewer, 'posts', forOperation)).toBe(await seal(viewer, 'posts', forOperation))
    for (const each of [forForward({ method: 'GET', target: '/a', address: '' }, ''), forAsk('POST', '/a', '')])
      expect(await seal(viewer, 'posts', each)).not.toBe(await seal(viewer, 'posts', each))
  })
})

describe('D3 a seal that is rejected for its time alone', () => {
  const open = (ms: number) => {
    const clock = at(ms)
    const lines: { level: number; reason: string }[] = []
    const times = watchSealTimes(pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) }), () => clock.now().getTime())
    const read = createSealReader({ audience: 'posts', keys: [publicHalf(key)], clock, noteTime: times.note })
    return { clock, lines, times, read: (token: unknown) => read(token, isFor(forOperation)) }
  }

  test.for([
    [-40_000, "the router's clock seems to be 40 s ahead of this machine's"],
    [65_000, "the router's clock seems to be 65 s behind this machine's"],
  ] as const)('where it is read at %i ms is told once in ten seconds, and for a minute the subgraph is not ready', async ([ms, reason]) => {
    const { clock, lines, times, read } = open(ms)
    await times.check()
    const token = await sealAt(0)
    for (const _ of [1, 2, 3]) await expect(read(token)).rejects.toMatchObject(refused)
    expect(lines).toEqual([expect.objectContaining({ level: 50, reason })])
    await expect(times.check()).rejects.toThrow(reason)
    clock.advance(10_000)
    await expect(read(await sealAt(10_000))).rejects.toMatchObject(refused)
    expect(lines).toHaveLength(2)
    clock.advance(59_999)
    await expect(times.check()).rejects.toThrow(reason)
    clock.advance(1)
    await times.check()
  })

  test('leaves the subgraph ready again as soon as another one is accepted', async () => {
    const { lines, times, read } = open(60_000)
    await expect(read(await sealAt(0))).rejects.toMatchObject(refused)
    await expect(times.check()).rejects.toThrow(/60 s behind/)
    await read(await sealAt(60_000))
    await times.check()
    expect(lines).toHaveLength(1)
  })

  test('is rejected for its time only: a seal with other faults says nothing about clocks', async () => {
    const { lines, times, read } = open(-40_000)
    const tokens = [await sealAt(0, anonymous, newKey('one')), await forge({ aud: 'people' }), await forge({ for: 'everything' }), 'a.b.c']
    for (const token of tokens) await expect(read(token)).rejects.toMatchObject(refused)
    await times.check()
    expect(lines).toEqual([])
  })
})
