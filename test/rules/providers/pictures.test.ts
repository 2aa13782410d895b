import sharp from 'sharp'
import { describe, expect, it, test } from 'vitest'
import { sizeOf } from '../../../subgraphs/providers/ai/counting/picture-size.ts'
import { tokensOfPicture } from '../../../subgraphs/providers/ai/counting/pictures.ts'

const model = (name: string) => ({ provider: name.split('/')[0]!, upstream: name.split('/')[1]! })

// Includes the examples of the vendors' documentation.
test.each([
  ['openai/gpt-4o', 1024, 1024, 'high', 765],
  ['openai/gpt-4o', 2048, 4096, 'high', 1_105],
  ['openai/gpt-4o', 4096, 8192, 'low', 85],
  ['openai/gpt-4o', 150, 150, null, 255],
  ['openai/gpt-4o-mini', 1024, 1024, null, 25_501],
  ['openai/gpt-5', 1024, 1024, null, 630],
  ['openai/o3', 1024, 1024, null, 675],
  ['openai/gpt-5-mini', 1024, 1024, null, 1_659],
  ['openai/gpt-5-mini', 480, 480, null, 365],
  ['openai/gpt-5-nano', 1024, 1024, null, 2_520],
  ['openai/gpt-4.1-mini', 6_000, 6_000, null, 2_489],
  ['anthropic/claude-haiku-4-5', 200, 200, null, 54],
  ['anthropic/claude-haiku-4-5', 1_000, 1_000, null, 1_334],
  ['anthropic/claude-haiku-4-5', 1_092, 1_092, null, 1_590],
  ['anthropic/claude-haiku-4-5', 4_000, 4_000, null, 1_600],
  ['anthropic/claude-haiku-4-5', 3_136, 100, null, 105],
  ['anthropic/claude-opus-4-7', 2_000, 1_500, null, 4_000],
  ['google/gemini-2.5-flash', 384, 384, null, 258],
  ['google/gemini-2.5-flash', 960, 540, null, 1_548],
  ['own/any', 10, 10, null, 5_000],
])('a picture for %s of %i × %i with detail %s is %i tokens', (name, width, height, detail, tokens) => {
  expect(tokensOfPicture(model(name), { size: { width, height }, detail })).toBe(tokens)
})

test.each([
  'openai/gpt-4o',
  'openai/gpt-4o-mini',
  'openai/gpt-5-mini',
  'anthropic/claude-haiku-4-5',
  'google/gemini-2.5-flash',
  'own/any',
])('a picture of unknown size is for %s at least what any known one is', name => {
  const unknown = tokensOfPicture(model(name), { size: null, detail: null })
  for (const width of [1, 300, 768, 1_600, 2_048, 9_000])
    for (const height of [1, 300, 768, 1_600, 2_048, 9_000])
      expect(tokensOfPicture(model(name), { size: { width, height }, detail: 'high' }), `${width} x ${height}`).toBeLessThanOrEqual(unknown)
})

describe('the size of a picture', () => {
  const [width, height] = [321, 123]
  const drawn = sharp({ create: { width, height, channels: 3, background: '#a52' } })
  const url = (type: string, bytes: Buffer) => `data:image/${type};base64,${bytes.toString('base64')}`

  it.each([
    ['png', () => drawn.clone().png().toBuffer()],
    ['jpeg', () => drawn.clone().jpeg().toBuffer()],
    [
      'jpeg',
      () =>
        drawn
          .clone()
          .jpeg({ progressive: true })
          .withMetadata({ exif: { IFD0: { ImageDescription: 'x'.repeat(30_000) } } })
          .toBuffer(),
    ],
    ['gif', () => drawn.clone().gif().toBuffer()],
    ['webp', () => drawn.clone().webp().toBuffer()],
    ['webp', () => drawn.clone().webp({ lossless: true }).toBuffer()],
    [
      'webp',
      () =>
        sharp({ create: { width, height, channels: 4, background: '#a528' } })
          .webp()
          .toBuffer(),
    ],
  ])('is read from the head of a %s', async (type, draw) => {
    expect(sizeOf(url(type, await draw()))).toEqual({ width, height })
  })

  it.each([
    '',
    'AAAA',
    '/9j/',
    'iVBORw0KGgo=',
    Buffer.from('RIFF0000WEBPVP8Q'.padEnd(64)).toString('base64'),
    `/9j/${'////'.repeat(1_000)}`,
  ])('is unknown where the head does not say it: %#', data => expect(sizeOf(`data:image/png;base64,${data}`)).toBeNull())
})
