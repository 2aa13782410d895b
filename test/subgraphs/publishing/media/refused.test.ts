import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mediaSweeps } from '../../../../subgraphs/publishing/media/prepare.ts'
import { box, mp4, png } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld({ quotas: { mediaABrand: 6 } })
})
afterAll(() => world[Symbol.asyncDispose]())

/** How many objects are entered as stored for a while, or to be removed. */
const entered = async () => (await world.graph.rows('select key from publishing.media_objects')).length
/** Keys of everything that is stored, once what is to go now is gone. */
const stored = async (): Promise<readonly string[]> => {
  await mediaSweeps(() => world.graph.job)
    .find(({ name }) => name === 'objects that are to go')!
    .run()
  const kept = await world.graph.rows<{ key: string }>(
    `select 'media/' || id || '/' || form as key from publishing.media_assets cross join unnest(array['original', 'preview']) form where brand_id = $1
     union select key from publishing.media_objects`,
    [world.brand.id],
  )
  const there = await Promise.all(kept.map(async ({ key }) => ((await world.graph.job.storage.stat(key)) ? key : null)))
  return there.filter(key => key !== null).toSorted()
}
const direct = (bytes: Buffer, key?: string, brandId: string = world.brand.id) =>
  world.http('POST', `/api/media?brandId=${brandId}&filename=a.png`, {
    body: bytes,
    headers: { 'content-type': 'image/png', ...(key && { 'idempotency-key': key }) },
  })

describe('a rejected upload', () => {
  beforeEach(() => world.graph.rows('delete from publishing.media_objects'))

  it('is written nowhere when its brand is archived', async () => {
    const { it: brand } = await world.mutate('createBrand', { name: 'Closed' })
    await world.mutate('archiveBrand', { id: brand.id })
    expect((await direct(png(), undefined, brand.id)).json).toMatchObject({ status: 409, reason: 'BRAND_ARCHIVED' })
    expect(await entered()).toBe(0)
  })

  it('stores nothing when its key has created an asset before, and returns that asset', async () => {
    const bytes = png(30, 30)
    const first = await direct(bytes, 'one-picture-once')
    expect(first.headers.get('idempotent-replayed')).toBe(null)
    const before = await stored()
    for (let at = 0; at < 3; at += 1) {
      const again = await direct(bytes, 'one-picture-once')
      expect([again.status, again.json.id, again.headers.get('idempotent-replayed')]).toEqual([201, first.json.id, 'true'])
    }
    expect((await direct(png(31, 31), 'one-picture-once')).json).toMatchObject({ status: 409, reason: 'KEY_REUSED' })
    expect([await entered(), await stored()]).toEqual([0, before])
  })

  it('stores one picture of five that are sent at once with one key', async () => {
    const before = await stored()
    const answers = await Promise.all(Array.from({ length: 5 }, () => direct(png(20, 20), 'five-at-once')))
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    expect((await stored()).length).toBe(before.length + 2)
    expect(await entered()).toBe(0)
  })

  it('stores nothing when it came in parts and is no video', async () => {
    const before = await stored()
    const file = Buffer.concat([box('ftyp', 'isom'), box('mdat', Buffer.alloc(5_000))])
    const { at } = await world.begin(file.length)
    const asset = await world.ready((await world.patch(at, 0, file)).headers.get('x-media-asset-id')!)
    expect(asset.status).toBe('FAILED')
    expect(await stored()).toEqual(before)
  })

  it('is removed in one round, whatever its size', async () => {
    await world.graph.rows(
      `insert into publishing.media_objects (key, brand_id, remove_at) select 'imports/' || n || '/0', $1, $2 from generate_series(1, 450) n`,
      [world.brand.id, world.graph.clock.now()],
    )
    await stored()
    expect(await entered()).toBe(0)
  })

  it('stores nothing when others take the last room meanwhile, and writes nothing once there is none', async () => {
    const before = await stored()
    const free =
      6 - Number((await world.graph.rows<{ n: number }>('select count(*)::int as n from publishing.media_assets where brand_id = $1', [world.brand.id]))[0]!.n)
    expect(free).toBeGreaterThan(0)
    const answers = await Promise.all(Array.from({ length: free + 3 }, (_, at) => direct(png(50 + at, 50))))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array<number>(free).fill(201), 409, 409, 409])
    expect((await stored()).length).toBe(before.length + 2 * free)
    await world.graph.rows('delete from publishing.media_objects')
    for (let at = 0; at < 3; at += 1) expect((await direct(png(), `full-${at}-of-the-brand`)).json).toMatchObject({ status: 409, reason: 'QUOTA' })
    expect((await world.begin(mp4().length)).status).toBe(409)
    expect(await entered()).toBe(0)
  })
})
