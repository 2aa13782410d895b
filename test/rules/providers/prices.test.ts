import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bodyOfImages, boundOfImages, usageOfImages } from '../../../subgraphs/providers/ai/image/request.ts'
import { imagePriceOf } from '../../../subgraphs/providers/engines/models/image-prices.ts'
import { believed, boundOf, capabilities, costOf, isUnpriced, type Prices, unpriced } from '../../../subgraphs/providers/engines/models/prices.ts'
import type { ImagePrice } from '../../../subgraphs/providers/stores/model/model.ts'

/** The dearest of a quality is not the first. */
const byForm = [
  { quality: 'low', size: '1024x1024', micros: 11_000 },
  { quality: 'low', size: '1536x1024', micros: 16_000 },
  { quality: 'medium', size: '1024x1024', micros: 40_000 },
  { quality: 'high', size: '1536x1024', micros: 250_000 },
  { quality: 'high', size: '1024x1024', micros: 167_000 },
]
const micros = fc.option(fc.bigInt(0n, 1_000_000_000n), { nil: null })
const model = fc.record({
  capability: fc.constantFrom(...capabilities),
  inputMicrosPerMillion: micros,
  cacheReadMicrosPerMillion: micros,
  cacheWriteMicrosPerMillion: micros,
  outputMicrosPerMillion: micros,
  imageMicros: micros,
  imagePrices: fc.constantFrom([], byForm),
  minuteMicros: micros,
  maxOutputTokens: fc.option(fc.integer({ min: 1, max: 200_000 }), { nil: null }),
})
const tokens = fc.integer({ min: 0, max: 10_000_000 })

const at = (prices: Partial<Prices>, capability: (typeof capabilities)[number] = 'CHAT') => ({ ...unpriced, ...prices, capability, maxOutputTokens: null })
const mini = at({ inputMicrosPerMillion: 250_000n, outputMicrosPerMillion: 2_000_000n })

/** As Anthropic asks for what it keeps: a tenth to read it, five quarters to write it, twice for an hour. */
const kept = at({
  inputMicrosPerMillion: 1_000_000n,
  cacheReadMicrosPerMillion: 100_000n,
  cacheWriteMicrosPerMillion: 1_250_000n,
  outputMicrosPerMillion: 5_000_000n,
})

describe('one image', () => {
  test.for([
    [null, null, 40_000n],
    ['auto', 'auto', 40_000n],
    ['low', null, 11_000n],
    ['low', '1536x1024', 16_000n],
    // A size without a price costs what the dearest of its quality costs, or the dearest of all.
    ['low', '64x64', 16_000n],
    ['high', '64x64', 250_000n],
    ['hd', '1024x1024', 250_000n],
  ] as const)('of quality %s and size %s costs %s', ([quality, size, cost]) => {
    expect(imagePriceOf(byForm, { quality, size }, 7n)).toBe(cost)
    expect(imagePriceOf([], { quality, size }, 7n)).toBe(7n)
  })

  test('is requested with the quality and size that determine its price', () => {
    const body = (wishes: Record<string, string>, imagePrices: readonly ImagePrice[]) => {
      const { quality, size } = JSON.parse(bodyOfImages({ model: null, prompt: 'a', n: 1, wishes }, { upstream: 'm', imagePrices }))
      return [quality, size]
    }
    expect(body({}, byForm)).toEqual(['medium', '1024x1024'])
    expect(body({ quality: 'auto', size: '1536x1024' }, byForm)).toEqual(['medium', '1536x1024'])
    expect(body({ quality: 'auto' }, [])).toEqual(['auto', undefined])
  })

  test('of a model billed by tokens costs the tokens that its provider counts, and never more than was reserved', () => {
    const priced = at({ inputMicrosPerMillion: 5_000_000n, outputMicrosPerMillion: 40_000_000n }, 'IMAGE')
    for (const wishes of [{}, { quality: 'low', size: '1024x1024' }, { quality: 'high', size: '1536x1024' }]) {
      const request = { model: null, prompt: 'A house', n: 2, wishes }
      const held = boundOf(priced, boundOfImages(request))!
      const counted = usageOfImages(request, { created: 0, images: ['a', 'b'], usage: { input_tokens: 2, output_tokens: 544 } })
      expect(costOf(priced, counted)).toBe(21_770n)
      expect(costOf(priced, usageOfImages(request, { created: 0, images: ['a', 'b'], usage: null }))).toBe(held)
      expect(held).toBeGreaterThanOrEqual(21_770n)
    }
  })
})

describe('the cost of a call', () => {
  test.for([
    [mini, { inputTokens: 1, outputTokens: 0, units: null }, 1n],
    [mini, { inputTokens: 4, outputTokens: 0, units: null }, 1n],
    [mini, { inputTokens: 5, outputTokens: 0, units: null }, 2n],
    [mini, { inputTokens: 3, outputTokens: 7, units: null }, 15n],
    [mini, { inputTokens: 0, outputTokens: 0, units: null }, 0n],
    [mini, { inputTokens: null, outputTokens: null, units: null }, 0n],
    [kept, { inputTokens: 10_000, cachedTokens: 9_000, outputTokens: 0, units: null }, 1_900n],
    [kept, { inputTokens: 10_000, cacheWriteTokens: 9_000, outputTokens: 0, units: null }, 12_250n],
    [kept, { inputTokens: 10_000, cacheWriteTokens: 9_000, longCacheWriteTokens: 9_000, outputTokens: 0, units: null }, 19_000n],
    [kept, { inputTokens: 10_000, cachedTokens: 4_000, cacheWriteTokens: 5_000, longCacheWriteTokens: 1_000, outputTokens: 100, units: null }, 8_900n],
    [kept, { inputTokens: 100, cachedTokens: 900, outputTokens: 0, units: null }, 10n],
    [mini, { inputTokens: 10_000, cachedTokens: 9_000, outputTokens: 0, units: null }, 2_500n],
    [mini, { inputTokens: 8_000, cacheWriteTokens: 8_000, outputTokens: 0, units: null }, 2_500n],
    [at({ imageMicros: 40_000n }, 'IMAGE'), { inputTokens: 9, outputTokens: 272, units: 3 }, 120_000n],
    [at({ minuteMicros: 3_000n }, 'TRANSCRIPTION'), { inputTokens: null, outputTokens: null, units: 1 }, 50n],
    [at({ minuteMicros: 3_000n }, 'TRANSCRIPTION'), { inputTokens: null, outputTokens: null, units: 0.001 }, 1n],
    [at({ minuteMicros: 6_000n }, 'TRANSCRIPTION'), { inputTokens: null, outputTokens: null, units: 90 }, 9_000n],
    [at({ inputMicrosPerMillion: 20_000n }, 'EMBEDDING'), { inputTokens: 51, outputTokens: null, units: null }, 2n],
    [at({ inputMicrosPerMillion: 1n }), { inputTokens: 1, outputTokens: 1, units: null }, null],
    [at({}), { inputTokens: 1, outputTokens: 1, units: null }, null],
    [at({ inputMicrosPerMillion: 1n, outputMicrosPerMillion: 1n }, 'IMAGE'), { inputTokens: 1_000_000, outputTokens: 1, units: 1 }, 2n],
  ] as const)('%o, %o: %s', ([priced, usage, cost]) => expect(costOf(priced, usage)).toBe(cost))

  test('is the exact amount, rounded up once', () =>
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), tokens, tokens, (input, output, inputTokens, outputTokens) => {
        const cost = costOf(at({ inputMicrosPerMillion: input, outputMicrosPerMillion: output }), { inputTokens, outputTokens, units: null })!
        const exact = BigInt(inputTokens) * input + BigInt(outputTokens) * output
        return cost * 1_000_000n >= exact && cost * 1_000_000n < exact + 1_000_000n
      }),
    ))

  test('is null for exactly those models without a price, for any usage', () =>
    fc.assert(
      fc.property(model, tokens, tokens, (priced, inputTokens, outputTokens) => {
        const cost = costOf(priced, { inputTokens, outputTokens, units: 1 })
        return (cost === null) === isUnpriced(priced) && (boundOf(priced, { inputBytes: 1 }) === null) === isUnpriced(priced)
      }),
    ))
})

test('a call within a bound never costs more than the bound’s price', () =>
  fc.assert(
    fc.property(
      model,
      fc.record({
        inputBytes: tokens,
        maxOutputTokens: tokens,
        images: fc.integer({ min: 0, max: 10 }),
        keeps: fc.constantFrom(null, 'minutes' as const, 'hour' as const),
        seconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
      }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (priced, bound, share) => {
        const most = boundOf(priced, bound)
        const usage = {
          inputTokens: Math.floor(bound.inputBytes * share),
          outputTokens: priced.capability === 'EMBEDDING' ? 0 : Math.floor(bound.maxOutputTokens * share),
          units: priced.capability === 'IMAGE' ? Math.floor(bound.images * share) : bound.seconds * share,
        }
        return most === null || costOf(priced, usage)! <= most
      },
    ),
  ))

test('never bills more than the bound whatever a provider reports, and says when it billed less than reported', () =>
  fc.assert(
    fc.property(
      model,
      fc.record({
        ...{ inputBytes: tokens, maxOutputTokens: tokens, images: fc.integer({ min: 0, max: 10 }), seconds: fc.integer({ min: 0, max: 10_000 }) },
        keeps: fc.constantFrom(null, 'minutes' as const, 'hour' as const),
      }),
      fc.record({
        ...{ cachedTokens: tokens, cacheWriteTokens: tokens, longCacheWriteTokens: tokens },
        inputTokens: fc.option(tokens),
        outputTokens: fc.option(tokens),
        units: fc.option(tokens),
      }),
      (priced, bound, told) => {
        const { usage, isDoubtful } = believed(priced, told, bound)
        const most = boundOf(priced, bound)
        const counts = ['inputTokens', 'outputTokens', 'units'] as const
        expect(isDoubtful).toBe(counts.some(name => usage[name] !== told[name]))
        return most === null || costOf(priced, usage)! <= most
      },
    ),
  ))

test('without a maximum a model counts as writing as much as it can, or 4,096 tokens where that is unknown', () => {
  const dollarAToken = at({ inputMicrosPerMillion: 0n, outputMicrosPerMillion: 1_000_000n })
  expect(boundOf(dollarAToken, { inputBytes: 5 })).toBe(4_096n)
  expect(boundOf({ ...dollarAToken, maxOutputTokens: 10 }, { inputBytes: 5 })).toBe(10n)
  expect(boundOf({ ...dollarAToken, maxOutputTokens: 10 }, { maxOutputTokens: 3 })).toBe(3n)
})
