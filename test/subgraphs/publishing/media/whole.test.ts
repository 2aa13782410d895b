import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { digestOf } from '../../../../subgraphs/publishing/media/file/digest.ts'
import { gif, mp4, png } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
/** One picture in each format, with something to be seen in it. */
let files: Record<'jpeg' | 'progressive' | 'png' | 'webp' | 'lossless' | 'animated', Buffer>
beforeAll(async () => {
  world = await mediaWorld()
  const noise = await sharp({ create: { width: 300, height: 200, channels: 3, background: '#888888', noise: { type: 'gaussian', mean: 128, sigma: 40 } } })
    .png()
    .toBuffer()
  const frames = await sharp({ create: { width: 32, height: 64, channels: 4, background: '#12345680' } })
    .raw()
    .toBuffer()
  files = {
    jpeg: await sharp(noise).jpeg().toBuffer(),
    progressive: await sharp(noise).jpeg({ progressive: true }).toBuffer(),
    png: noise,
    webp: await sharp(noise).webp().toBuffer(),
    lossless: await sharp(noise).webp({ lossless: true }).toBuffer(),
    animated: await sharp(frames, { raw: { width: 32, height: 64, channels: 4, pageHeight: 32 } })
      .webp({ loop: 0, delay: [50, 50] })
      .toBuffer(),
  }
})
afterAll(() => world[Symbol.asyncDispose]())

const kinds = ['jpeg', 'progressive', 'png', 'webp', 'lossless', 'animated'] as const
/** Everything that is stored of pictures, or waits to be removed. */
const objects = () =>
  world.graph.rows<{ key: string; gone: boolean }>('select key, remove_at <= $1 as gone from publishing.media_objects', [world.graph.clock.now()])
/** Sends a file in parts, and waits until it was looked at. */
const inParts = async (bytes: Buffer) => {
  const { at } = await world.begin(bytes.length, { filename: 'picture' })
  return world.ready((await world.patch(at, 0, bytes)).headers.get('x-media-asset-id')!)
}

describe('a complete picture', () => {
  it.each(kinds)('is accepted unchanged: %s', async kind => {
    const { status, json } = await world.upload(files[kind])
    expect([status, json.previewBroken, json.bytes, json.sha256]).toEqual([201, false, files[kind].length, await digestOf(files[kind])])
  })

  it('is accepted unchanged: gif', async () => {
    expect((await world.upload(gif)).json).toMatchObject({ bytes: gif.length, previewBroken: false })
  })
})

describe('a truncated picture', () => {
  it.each(kinds)('is refused at its upload, wherever it is cut: %s', async kind => {
    const file = files[kind]
    for (const share of [0.2, 1 / 3, 0.6, 0.95]) {
      const { status, json } = await world.upload(file.subarray(0, Math.floor(file.length * share)))
      expect([status, json.code], `${kind} at ${share}`).toEqual([400, 'BAD_USER_INPUT'])
    }
    const { json } = await world.upload(file.subarray(0, file.length - 3))
    expect(json).toMatchObject({ status: 400, detail: expect.stringMatching(/cut off/) })
  })

  it('is rejected when its frame looks complete and its pixels are missing', async () => {
    const { json } = await world.upload(png(600, 600, [1, 2, 3], Buffer.alloc(50)))
    expect(json).toMatchObject({ status: 400, detail: expect.stringContaining('cannot be decoded') })
  })

  it('is FAILED when it arrives in parts, and none of it is stored', async () => {
    await world.graph.rows('delete from publishing.media_objects')
    const asset = await inParts(files.jpeg.subarray(0, 2_000))
    expect(asset).toMatchObject({ status: 'FAILED', previewBroken: true })
    const left = await objects()
    expect([left.length > 0, left.every(({ gone }) => gone)]).toEqual([true, true])
  })

  it('is refused as a GIF too, in the middle of a block', async () => {
    expect((await world.upload(gif.subarray(0, gif.length - 4))).status).toBe(400)
  })
})

describe('bytes after the end of a picture', () => {
  const page = Buffer.from('<script>alert(1)</script>')

  it.each(kinds)('are refused: %s', async kind => {
    const { status, json } = await world.upload(Buffer.concat([files[kind], page]))
    expect([status, json.detail]).toEqual([400, expect.stringContaining(`${page.length} bytes follow the end`)])
  })

  it('are rejected after padding, in a GIF, as megabytes of padding, and as another picture after a non-JPEG', async () => {
    const wrong = [
      [files.png, Buffer.alloc(100), page],
      [gif, page],
      [files.webp, Buffer.alloc(100_000)],
      [files.png, files.jpeg],
      [files.jpeg, Buffer.alloc(20), files.png],
    ]
    for (const parts of wrong) expect((await world.upload(Buffer.concat(parts))).status).toBe(400)
  })

  it('are cut off where phones append them to a JPEG: a gain map, a film, a trailer, padding', async () => {
    const appended = [
      [files.progressive],
      [Buffer.alloc(7), files.jpeg, Buffer.alloc(12)],
      [mp4()],
      [Buffer.alloc(3), mp4()],
      [Buffer.from('\0\0\x01\x0a\x0e\0\0\0Image_UTC_Data1700000000000SEFHe\0\0\0SEFT', 'latin1')],
      [Buffer.from('\r\n')],
    ]
    for (const parts of appended) {
      const { status, json } = await world.upload(Buffer.concat([files.jpeg, ...parts]))
      expect([status, json.bytes, json.sha256]).toEqual([201, files.jpeg.length, await digestOf(files.jpeg)])
      expect((await world.http('GET', (await world.asset(json.id)).url)).bytes.equals(files.jpeg)).toBe(true)
    }
    expect((await world.upload(Buffer.concat([files.png, Buffer.alloc(5)]))).json.bytes).toBe(files.png.length)
  })

  it('are cut off or rejected alike when they come in parts', async () => {
    expect(await inParts(Buffer.concat([files.jpeg, mp4()]))).toMatchObject({ status: 'READY', bytes: files.jpeg.length })
    expect(await inParts(Buffer.concat([files.jpeg, page]))).toMatchObject({ status: 'FAILED' })
  })
})
