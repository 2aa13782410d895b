import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createBoundClock } from '../../../platform/clock.ts'
import { createSeal, publicHalf } from '../../../router/engine/transport/seal.ts'
import { createSealReader } from '../../../subgraphs/seal.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'

const newKey = (id: string) => ({ id, key: randomBytes(32) })
const key = newKey('one')
const noon = Date.parse('2026-01-01T12:00:00.000Z')
const at = (ms: number) => createBoundClock(new Date(noon + ms))
const sealAt = (ms: number, viewer: Viewer = { ...anonymous }, by = key) => createSeal(by, at(ms))(viewer, 'posts')
const readerAt = (ms: number, keys = [publicHalf(key)]) => createSealReader({ audience: 'posts', keys, clock: at(ms) })
const refused = { extensions: { code: 'UNAUTHENTICATED' } }

describe('D3 a seal', () => {
  // The moment of a seal is told in whole seconds, so a clock a little behind sees it in the future whenever a second begins.
  test.for([0, -1, -5, -900, -4900])('is believed by a subgraph whose clock is %i ms beside that of the router', async skew => {
    expect(await readerAt(skew)(await sealAt(0))).toEqual(anonymous)
  })

  test.for([-6000, -60_000, 60_000, 61_000])('is refused where it is read %i ms after it was made', async age => {
    await expect(readerAt(age)(await sealAt(0))).rejects.toMatchObject(refused)
  })

  test('is good until its minute is over, and not a moment longer because it was believed before', async () => {
    const clock = at(0)
    const read = createSealReader({ audience: 'posts', keys: [publicHalf(key)], clock })
    const token = await sealAt(0)
    const viewer = await read(token)
    clock.set(new Date(noon + 59_900))
    expect(await read(token)).toBe(viewer)
    clock.set(new Date(noon + 60_000))
    await expect(read(token)).rejects.toMatchObject(refused)
  })

  test('is used again for twenty seconds, and made anew after them or when the clock was set back', async () => {
    const clock = at(0)
    const seal = createSeal(key, clock)
    const viewer = { ...anonymous }
    const first = await seal(viewer, 'posts')
    clock.set(new Date(noon + 19_000))
    expect(await seal(viewer, 'posts')).toBe(first)
    expect(await seal(viewer, 'people')).not.toBe(first)
    clock.set(new Date(noon + 20_000))
    expect(await seal(viewer, 'posts')).not.toBe(first)
    clock.set(new Date(noon - 3_600_000))
    expect(await readerAt(-3_600_000)(await seal(viewer, 'posts'))).toEqual(anonymous)
  })

  test('of the new key is believed before the old one is gone, and of the old one not after', async () => {
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

  test('says no viewer but of the known form', async () => {
    for (const viewer of [{}, { ...anonymous, kind: 'root' }, { ...anonymous, scopes: 'all' }, { ...anonymous, context: 'elsewhere' }, null]) {
      await expect(readerAt(0)(await createSeal(key, at(0))((viewer ?? []) as Viewer, 'posts'))).rejects.toMatchObject(refused)
    }
  })
})
