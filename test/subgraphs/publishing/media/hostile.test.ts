import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Context } from '../../../../subgraphs/publishing/context.ts'
import { createReceiving } from '../../../../subgraphs/publishing/engines/media/receiving.ts'
import { readFilm } from '../../../../subgraphs/publishing/media/file/film.ts'
import { formOf, type InTurn, lookAtPicture } from '../../../../subgraphs/publishing/media/file/picture.ts'
import { receive, Stalled } from '../../../../subgraphs/publishing/media/upload/receive.ts'
import { formFor } from '../../../../subgraphs/publishing/media/variant/form.ts'
import { platforms } from '../../../../subgraphs/publishing/network/networks.ts'
import { box, mp4, png } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Work on pictures outside of any turn. */
const atOnce: InTurn = (_, work) => work()
const read = (file: Buffer) => readFilm(file.length, async (first, last) => file.subarray(first, last + 1))

describe('malicious pictures', () => {
  test('with a header of 400 million pixels in a small file are rejected by the header', async () => {
    const bomb = png(20_000, 20_000, [0, 0, 0], Buffer.alloc(1000))
    expect((await world.upload(bomb)).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT', detail: expect.stringContaining('100 million') })
  })

  test.each([
    // Heads of 65,535 by 65,535 and of 16,383 by 16,383 pixels, and a few bytes behind them.
    ['a GIF', Buffer.concat([Buffer.from('GIF89a'), Buffer.from('ffffffff800000', 'hex'), Buffer.from('000000ffffff2c00000000ffffffff0002024c01003b', 'hex')])],
    ['a WebP', Buffer.from('5249464616000000574542505650384c0a0000002ffe3fff0f0000000000', 'hex')],
  ])('so is %s of some bytes that would be gigabytes', async (_, bomb) => {
    expect((await world.upload(bomb)).json).toMatchObject({ status: 400, code: 'BAD_USER_INPUT' })
  })

  test('a picture’s location is removed from previews and uploads to networks; its orientation is applied', async () => {
    const { default: sharp } = await import('sharp')
    const taken = await sharp(png(60, 40))
      .jpeg()
      .withExif({ IFD0: { Copyright: 'somebody at home' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 12/1', GPSLongitudeRef: 'E' } })
      .withMetadata({ orientation: 6 })
      .toBuffer()
    expect((await sharp(taken).metadata()).exif!.includes('somebody at home')).toBe(true)
    const { json } = await world.upload(taken)
    expect([json.width, json.height]).toEqual([40, 60])
    const preview = (await world.http('GET', json.previewUrl)).bytes
    const made = await Promise.all(platforms.map(async platform => (await formOf(taken, 'image/jpeg', formFor[platform], atOnce)).bytes))
    expect(made.length).toBe(8)
    for (const bytes of [preview, ...made]) {
      const { exif, xmp, iptc, width, height } = await sharp(bytes).metadata()
      expect([exif, xmp, iptc, bytes.includes('somebody at home')]).toEqual([undefined, undefined, undefined, false])
      expect(height).toBeGreaterThanOrEqual(width)
    }
  })

  test('with nothing but a picture’s first bytes are rejected', async () => {
    const head = Buffer.concat([png().subarray(0, 20), Buffer.alloc(500, 65)])
    expect((await world.upload(head)).status).toBe(400)
    await expect(lookAtPicture(head, 'image/png')).rejects.toThrow('cannot be read')
  })

  test('Instagram gets a JPEG within its sides, whatever was uploaded', async () => {
    const made = await formOf(png(3000, 600), 'image/png', formFor.INSTAGRAM, atOnce)
    expect([made.mimeType, made.width, made.height]).toEqual(['image/jpeg', 1440, 754])
  })
})

describe('malicious or private data in videos', () => {
  test.each([
    ['a box longer than the file', Buffer.concat([box('ftyp', 'isom'), Buffer.from('7fffffff6d6f6f76', 'hex')])],
    ['a box shorter than its head', Buffer.concat([box('ftyp', 'isom'), Buffer.from('000000046d6f6f76', 'hex')])],
    ['no description', Buffer.concat([box('ftyp', 'isom'), box('mdat', Buffer.alloc(100))])],
    [
      'boxes deep in each other',
      Buffer.concat([box('ftyp', 'isom'), Array.from({ length: 500 }).reduce<Buffer>(inner => box('mdia', inner), Buffer.alloc(0))]).fill('moov', 12, 16),
    ],
    ['a description of nothing but empty boxes', Buffer.concat([box('ftyp', 'isom'), box('moov', Buffer.concat(Array<Buffer>(30_000).fill(box('free'))))])],
    ['a length beyond all time', mp4({ units: 0xffffffff }).fill(0, 0, 0)],
  ])('%s', async (_, file) => {
    await expect(read(file)).rejects.toThrow()
  })

  test('such as metadata and location is not sent to any network', async () => {
    const place = box('udta', box('\u00a9xyz', Buffer.from('+52.5200+013.4050/')))
    const xmp = box('uuid', Buffer.alloc(16, 0xbe), Buffer.from('<x:xmpmeta>+52.5200+013.4050</x:xmpmeta>'))
    const bytes = Buffer.concat([mp4({ written: [place, xmp] }), xmp])
    const { at } = await world.begin(bytes.length)
    const asset = await world.ready((await world.patch(at, 0, bytes)).headers.get('x-media-asset-id')!)
    const given = await world.http('GET', asset.url)
    expect(given.bytes.includes('+52.52')).toBe(true)
    const { media } = (await (
      await import('../../../../subgraphs/publishing/media/deliverable.ts')
    ).mediaOf(world.graph.job, { brandId: world.brand.id, media: [{ assetId: asset.id, altText: null }] }, 'X')) as {
      media: readonly { open(): Promise<ReadableStream>; address(): string }[]
    }
    const sent = Buffer.from(await new Response(await media[0]!.open()).arrayBuffer())
    expect([sent.length, sent.includes('+52.52')]).toEqual([bytes.length, false])
    const fetched = await world.http('GET', media[0]!.address())
    expect([fetched.status, fetched.bytes.equals(sent)]).toEqual([200, true])
  })
})

describe('malicious uploads', () => {
  test('end at the first part that is not a medium, also one byte at a time', async () => {
    const { at } = await world.begin(5_000)
    expect((await world.patch(at, 0, Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'.padEnd(64)))).status).toBe(400)
    expect((await world.http('HEAD', at, { headers: world.tus })).status).toBe(404)
    const slow = await world.begin(5_000)
    for (let offset = 0; offset < 31; offset += 1) expect((await world.patch(slow.at, offset, Buffer.from('x'))).status).toBe(204)
    expect((await world.patch(slow.at, 31, Buffer.from('x'))).status).toBe(400)
  })

  test('a checksum that does not hold costs its part alone; more than was promised is refused', async () => {
    const bytes = mp4()
    const { at } = await world.begin(bytes.length)
    expect((await world.patch(at, 0, bytes.subarray(0, 100), { 'upload-checksum': `sha1 ${Buffer.alloc(20).toString('base64')}` })).status).toBe(460)
    expect((await world.http('HEAD', at, { headers: world.tus })).headers.get('upload-offset')).toBe('0')
    expect((await world.patch(at, 0, Buffer.concat([bytes, bytes]))).status).toBe(400)
    expect((await world.http('DELETE', at, { headers: world.tus })).status).toBe(204)
    expect((await world.http('HEAD', at, { headers: world.tus })).status).toBe(404)
  })

  test('in parallel for one file: one counts', async () => {
    const bytes = mp4({ padding: 20_000 })
    const { at } = await world.begin(bytes.length)
    const ends = await Promise.all([world.patch(at, 0, bytes.subarray(0, 9_000)), world.patch(at, 0, bytes.subarray(0, 9_000))])
    expect(ends.map(({ status }) => status).sort()).toEqual([204, 409])
  })

  test('that break off are kept; a video of 2 GiB is rejected, and a day without data ends an upload', async () => {
    const bytes = mp4({ padding: 20_000 })
    const { at } = await world.begin(bytes.length)
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(bytes.subarray(0, 5_000)))
      },
      pull: controller => controller.error(new Error('the client left')),
    })
    await world.patch(at, 0, broken).catch(() => {})
    expect((await world.http('HEAD', at, { headers: world.tus })).headers.get('upload-offset')).toBe('5000')
    expect((await world.begin(2 ** 31)).status).toBe(413)
    await world.graph.clock.advance(24 * 3_600_000 + 1_000)
    expect((await world.http('HEAD', at, { headers: world.tus })).status).toBe(410)
  })
})

describe('uploads that would fill the storage', () => {
  const MiB = 1024 * 1024
  const objects = () =>
    world.graph.rows<{ gone: boolean }>(`select remove_at <= $1 as gone from publishing.media_objects where key like 'uploads/%'`, [world.graph.clock.now()])

  test('are limited by the organization’s total bytes; ended, complete and day-old uploads do not count', async () => {
    await using small = await mediaWorld({ quotas: { uploadMiBAnOrganization: 2 } })
    const { id: another } = (await small.mutate('createBrand', { name: 'Another' })).it
    const film = mp4({ padding: 1.5 * MiB })
    const begin = (length: number, brandId = small.brand.id) => small.begin(length, { brandId })
    expect((await begin(2 * MiB + 1)).status).toBe(413)
    const two = await Promise.all([begin(film.length), begin(film.length, another)])
    expect(two.map(({ status }) => status).sort()).toEqual([201, 429])
    const [first, second] = two[0]!.status === 201 ? two : two.toReversed()
    expect([second!.json.code, second!.headers.get('retry-after')]).toEqual(['RATE_LIMITED', '60'])
    await small.http('DELETE', first!.at, { headers: small.tus })
    const { at } = await begin(film.length, another)
    expect((await begin(film.length)).status).toBe(429)
    expect((await small.patch(at, 0, film)).status).toBe(204)
    expect((await begin(2 * MiB)).status).toBe(201)
    expect((await begin(1, another)).status).toBe(429)
    await small.graph.clock.advance(24 * 3_600_000 + 1)
    expect((await begin(1, another)).status).toBe(201)
  })

  test('leave no rejected parts behind: those with a wrong checksum, and those of a second writer', async () => {
    const bytes = mp4({ padding: 20_000 })
    const { at } = await world.begin(bytes.length)
    await world.graph.rows('delete from publishing.media_objects')
    await world.patch(at, 0, bytes, { 'upload-checksum': `sha1 ${Buffer.alloc(20).toString('base64')}` })
    expect(await objects()).toEqual([{ gone: true }])
    await Promise.all([world.patch(at, 0, bytes.subarray(0, 9_000)), world.patch(at, 0, bytes.subarray(0, 9_000))])
    expect((await objects()).map(({ gone }) => gone).sort()).toEqual([false, true, true])
  })
})

describe('uploads that would fill the memory', () => {
  test('are limited in number, and buffer less the more there are', async () => {
    const receiving = createReceiving()
    const arrived = Promise.withResolvers<void>()
    const MiB = 1024 * 1024
    const coming = (organization: string, count: number) => Array.from({ length: count }, () => receiving.one(organization, () => arrived.promise))
    expect(receiving.partBytes()).toBe(8 * MiB)
    const all = coming('one', 32)
    await expect(receiving.one('one', async () => 'received')).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED', retryAfter: 5 } })
    expect(receiving.partBytes()).toBe(2 * MiB)
    for (const organization of ['two', 'three', 'four']) all.push(...coming(organization, 32))
    expect(receiving.partBytes()).toBe(MiB)
    await expect(receiving.one('five', async () => 'received')).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED' } })
    arrived.resolve()
    await Promise.all(all)
    expect([await receiving.one('one', async () => 'received'), receiving.partBytes()]).toEqual(['received', 8 * MiB])
  })

  test('are not awaited once no bytes arrive: those received are stored', async () => {
    const bytes = mp4({ padding: 20_000 })
    const { at } = await world.begin(bytes.length)
    const { job } = world.graph
    const upload = await job.mediaUploads.byId.load(at.split('/').at(-1)!)
    const silent = new ReadableStream<Uint8Array>({ start: controller => controller.enqueue(new Uint8Array(bytes.subarray(0, 5_000))) })
    const impatient = Object.create(job, { receiving: { value: { ...job.receiving, idleMs: 20 } } }) as Context
    await expect(receive(impatient, upload!, { body: silent })).rejects.toThrow(Stalled)
    expect((await world.http('HEAD', at, { headers: world.tus })).headers.get('upload-offset')).toBe('5000')
  })
})

test('an upload that began before its brand was archived accepts no part then, and continues once it is restored', async () => {
  const file = mp4()
  const { at } = await world.begin(file.length)
  await world.mutate('archiveBrand', { id: world.brand.id })
  expect((await world.patch(at, 0, file.subarray(0, 40))).json).toMatchObject({ status: 409, reason: 'BRAND_ARCHIVED' })
  await world.mutate('restoreBrand', { id: world.brand.id })
  expect((await world.patch(at, 0, file.subarray(0, 40))).headers.get('upload-offset')).toBe('40')
})
