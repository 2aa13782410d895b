import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAnimated } from '../../../../subgraphs/publishing/media/file/animation.ts'
import { readFilm } from '../../../../subgraphs/publishing/media/file/film.ts'
import { apng, mp4, png } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

const moving = (): Promise<Buffer> =>
  sharp([png(32, 32, [200, 0, 0]), png(32, 32, [0, 0, 200])], { join: { animated: true } })
    .webp()
    .toBuffer()

describe('a picture that moves', () => {
  test('is known by its own marks', async () => {
    expect(isAnimated(await moving(), 'image/webp')).toBe(true)
    expect(isAnimated(await sharp(png()).webp().toBuffer(), 'image/webp')).toBe(false)
    expect(isAnimated(await sharp(png()).ensureAlpha(0.5).webp({ lossless: true }).toBuffer(), 'image/webp')).toBe(false)
    expect([isAnimated(apng(), 'image/png'), isAnimated(png(), 'image/png'), isAnimated(png().subarray(0, 20), 'image/png')]).toEqual([true, false, false])
  })

  test('is warned about by the check, for its first picture alone is sent', async () => {
    const check = 'query($input: ComposePostsInput!) { postChecks(input: $input) { problems { severity code field } } }'
    const files: [Buffer, boolean][] = [
      [await moving(), true],
      [apng(), true],
      [png(), false],
    ]
    for (const [bytes, warns] of files) {
      const { json } = await world.upload(bytes)
      const input = {
        brandId: world.brand.id,
        platforms: ['X', 'FACEBOOK', 'INSTAGRAM'],
        copy: 'It moves',
        media: [{ assetId: json.id, altText: 'Two colours' }],
      }
      const { postChecks } = await world.ask(check, { input })
      const warning = { severity: 'WARNING', code: 'MEDIA_STILL', field: 'media' }
      for (const { problems } of postChecks) expect(problems.filter(({ code }: { code: string }) => code === 'MEDIA_STILL')).toEqual(warns ? [warning] : [])
    }
  })
})

describe('a video', () => {
  const read = (file: Buffer) => readFilm(file.length, async (first, last) => file.subarray(first, last + 1))

  test('has its video and audio codecs read', async () => {
    expect(await read(mp4({ codec: 'hvc1', sound: 'mp4a' }))).toMatchObject({ videoCodec: 'hvc1', audioCodec: 'mp4a', width: 640, durationMs: 1000 })
    expect(await read(mp4())).toMatchObject({ videoCodec: 'avc1', audioCodec: null })
    expect(await read(mp4({ codec: '\0\0\0\0' }))).toMatchObject({ videoCodec: null })
  })
})
