import { describe, expect, it } from 'vitest'
import { fuse, likenessOf, maxDimensions, quantize, signsOf } from '../../../subgraphs/agents/engines/knowledge/vectors.ts'

const cosine = (one: readonly number[], other: readonly number[]) =>
  one.reduce((sum, each, at) => sum + each * other[at]!, 0) / (Math.hypot(...one) * Math.hypot(...other))

describe('quantize', () => {
  it('keeps directions: cosines differ by less than a hundredth', () => {
    const random = (seed: number) => Array.from({ length: 256 }, (_, at) => Math.sin(seed * 1_000 + at * at * 0.7))
    for (let at = 0; at < 50; at += 1) {
      const [one, other] = [random(at), random(at + 0.5).map((each, place) => each + random(at)[place]!)]
      expect(likenessOf(one, quantize(other)!.bytes)).toBeCloseTo(cosine(one, other), 2)
    }
  })

  it('writes the longest dimension as 127, and the sign of each', () => {
    const { bytes, signs } = quantize([0.5, -0.25, 0, 1e-9])!
    expect([...new Int8Array(bytes.buffer)]).toEqual([127, -64 + 1, 0, 0].map((each, at) => (at === 1 ? Math.round(-63.5) : each)))
    expect(signs).toBe('1001')
    expect(signsOf([0.5, -0.25, 0, 1e-9])).toBe(signs)
  })

  it.each([
    ['no dimension', []],
    ['zeros', [0, 0]],
    ['what is no number', [1, Number.NaN]],
    ['what is endless', [1, Number.POSITIVE_INFINITY]],
    ['too many dimensions', Array(maxDimensions + 1).fill(1)],
  ])('refuses a vector of %s', (_, vector) => {
    expect(quantize(vector)).toBeNull()
  })
})

describe('likenessOf', () => {
  it('is 1 for the same direction, -1 for the opposite, 0 for other dimensions', () => {
    const { bytes } = quantize([3, 4])!
    expect(likenessOf([6, 8], bytes)).toBeCloseTo(1, 4)
    expect(likenessOf([-6, -8], bytes)).toBeCloseTo(-1, 4)
    expect(likenessOf([1, 2, 3], bytes)).toBe(0)
    expect(likenessOf([0, 0], bytes)).toBe(0)
  })

  it('reads bytes that lie within a larger buffer', () => {
    const buffer = Buffer.from([9, 9, 127, 0, 9])
    expect(likenessOf([1, 0], buffer.subarray(2, 4))).toBeCloseTo(1, 6)
  })
})

describe('fuse', () => {
  const hits = (...names: readonly string[]) => names.map(name => ({ name, score: 9 }))
  const order = (...orders: readonly (readonly string[])[]) =>
    fuse(
      orders.map(each => hits(...each)),
      ({ name }) => name,
    ).map(({ name }) => name)

  it('puts what is in both orders before what is in one', () => {
    expect(order(['a', 'b', 'c'], ['d', 'c', 'e'])).toEqual(['c', 'a', 'd', 'b', 'e'])
  })

  it('keeps one order as it is', () => {
    expect(order(['a', 'b'], [])).toEqual(['a', 'b'])
  })

  it('scores by places alone', () => {
    expect(fuse([hits('a'), hits('a')], ({ name }) => name)[0]!.score).toBeCloseTo(2 / 61, 6)
  })
})
