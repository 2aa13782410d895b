import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jpegOfHeic } from '../../../../subgraphs/publishing/media/file/heic.ts'
import { jpegOf } from '../../../../subgraphs/publishing/media/file/picture.ts'
import { isHeic, typeOf } from '../../../../subgraphs/publishing/media/file/type.ts'
import { box, mp4 } from './files.ts'
import { type MediaWorld, mediaWorld } from './world.ts'

/** 96 × 64 pixels in HEVC, the left half red and the right half blue, as libheif writes it. */
const heic = Buffer.from(
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAkVtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAABAAAANGlsb2MAAAAAREAAAgABAAAAAAJpAAEAAAAAAAAAPQACAAAAAAKmAAEAAAAAAAAAEwAAADhpaW5mAAAAAAACAAAAFWluZmUCAAAAAAEAAGh2YzEAAAAAFWluZmUCAAAAAAIAAGh2YzEAAAABhGlwcnAAAAFfaXBjbwAAAHhodmNDAQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoDCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQAAAABRpc3BlAAAAAAAAAGAAAABAAAAAEHBpeGkAAAAAAwgICAAAAHJodmNDAQQIAAAAAAAAAAAAHvAA/Pz4+AAADwMgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAIQABACZCAQEECAAAAwCf+AAAAwAAHsDCBBZbqSSmubAgAAADACAAAAMAISIAAQAHRAHBcrAiQAAAABRpc3BlAAAAAAAAAGAAAABAAAAADnBpeGkAAAAAAQgAAAAnYXV4QwAAAAB1cm46bXBlZzpoZXZjOjIwMTU6YXV4aWQ6MQAAAAAdaXBtYQAAAAAAAAACAAEDgQKDAAIEhAWGhwAAABppcmVmAAAAAAAAAA5hdXhsAAIAAQABAAAAWG1kYXQAAAA5KAGvWIsyDpJf//LhX/9G0kPjyw6N3/MHxfXFs/1aDvyAWLEuqC7+BloJv83Wxnlv5sOM75VMJAluAAAADygBrrDvErD0H7yyQ4ERxw==',
  'base64',
)

let world: MediaWorld
beforeAll(async () => {
  world = await mediaWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** The colour in the middle of each half. */
const colours = async (bytes: Uint8Array) => {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (share: number) => [...data.subarray((32 * info.width + Math.round(info.width * share)) * 3).subarray(0, 3)]
  return [at(0.25), at(0.75)]
}

describe('a HEIC picture of a phone', () => {
  it('is stored as JPEG, upright and with its colours, whether uploaded at once or in parts', async () => {
    const { status, json } = await world.upload(heic, `brandId=${world.brand.id}&filename=IMG_0001.HEIC`)
    expect([status, json.mimeType, json.width, json.height, json.previewBroken]).toEqual([201, 'image/jpeg', 96, 64, false])
    const { at } = await world.begin(heic.length, { filename: 'IMG_0002.heic' })
    const inParts = await world.ready((await world.patch(at, 0, heic)).headers.get('x-media-asset-id')!)
    expect(inParts).toMatchObject({ status: 'READY', mimeType: 'image/jpeg', filename: 'IMG_0002.heic', kind: 'IMAGE' })
    const seen = await world.http('GET', (await world.asset(json.id)).url)
    expect([seen.headers.get('content-type'), seen.headers.get('content-disposition')]).toEqual(['image/jpeg', expect.stringContaining('IMG_0001.jpg')])
    const halves = await colours(seen.bytes)
    const expected = [192, 32, 32, 32, 64, 192]
    expect(
      halves.flat().every((value, at) => Math.abs(value - expected[at]!) < 12),
      JSON.stringify(halves),
    ).toBe(true)
  })

  it('is refused when it is cut off or damaged, and FAILED in parts', async () => {
    for (const bytes of [heic.subarray(0, 100), heic.subarray(0, heic.length - 60), Buffer.concat([heic.subarray(0, 40), Buffer.alloc(600, 7)])])
      expect((await world.upload(bytes)).json).toMatchObject({ status: 400, detail: expect.stringMatching(/HEIC/) })
    const { at } = await world.begin(300)
    expect((await world.ready((await world.patch(at, 0, heic.subarray(0, 300))).headers.get('x-media-asset-id')!)).status).toBe('FAILED')
  })

  it('is refused by its description when it has more pixels than are converted, before anything is decoded', async () => {
    const wide = Buffer.from(heic)
    for (let at = wide.indexOf('ispe'); at >= 0; at = wide.indexOf('ispe', at + 4)) wide.writeUInt32BE(600_000, at + 8)
    expect((await world.upload(wide)).json).toMatchObject({ status: 400, detail: expect.stringContaining('25 can be converted') })
  })

  it('takes one turn, weighted by its pixels', async () => {
    const weights: number[] = []
    await jpegOfHeic(heic, (weight, work) => {
      weights.push(weight)
      return work()
    })
    expect(weights).toEqual([expect.closeTo(1 + 0.006144 * 15, 5)])
  })

  it('keeps its colour profile', async () => {
    const p3 = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#ff0000' } })
      .withIccProfile('p3')
      .png()
      .toBuffer()
    const profile = (await sharp(p3).metadata()).icc!
    const data = new Uint8ClampedArray(8 * 8 * 4).fill(255)
    const made = await jpegOf({ data, width: 8, height: 8 }, profile)
    const head = await sharp(made).metadata()
    expect([head.width, head.icc!.equals(profile)]).toEqual([8, true])
  })
})

it('files that only resemble a HEIC are rejected: AVIF, a video, a general brand alone', () => {
  const ftyp = (...brands: string[]) => box('ftyp', brands[0]!, '\0\0\0\0', ...brands.slice(1))
  expect([isHeic(ftyp('avif', 'mif1', 'miaf')), isHeic(ftyp('mif1', 'avif')), isHeic(mp4()), isHeic(Buffer.alloc(3))]).toEqual([false, false, false, false])
  expect([isHeic(ftyp('heic', 'mif1')), isHeic(ftyp('mif1', 'miaf', 'heic')), isHeic(ftyp('heix'))]).toEqual([true, true, true])
  expect([typeOf(ftyp('avif', 'mif1')), typeOf(heic)]).toEqual([null, 'image/jpeg'])
})
