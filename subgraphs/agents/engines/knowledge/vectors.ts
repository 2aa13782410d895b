/** A vector as it is stored: its direction in whole numbers, and the sign of each dimension. */
export interface StoredVector {
  /** One byte a dimension, -127 to 127; the longest dimension has one of both. */
  readonly bytes: Uint8Array
  /** `1` for each dimension above zero, else `0`. */
  readonly signs: string
}

/** Maximum dimensions of a vector. */
export const maxDimensions = 4_096

/** Rounds a vector to one byte a dimension; its length does not count. @returns null for one without a direction, or that is too long */
export function quantize(vector: readonly number[]): StoredVector | null {
  const longest = vector.reduce((most, each) => Math.max(most, Math.abs(each)), 0)
  if (!(longest > 0) || !Number.isFinite(longest) || vector.length > maxDimensions) return null
  const bytes = Int8Array.from(vector, each => Math.round((each / longest) * 127))
  return { bytes: new Uint8Array(bytes.buffer), signs: signsOf(vector) }
}

/** The sign of each dimension. */
export const signsOf = (vector: readonly number[]): string => vector.map(each => (each > 0 ? '1' : '0')).join('')

/** The cosine of the angle between a vector and a stored one, from -1 to 1; 0 where their dimensions differ. */
export function likenessOf(vector: readonly number[], stored: Uint8Array): number {
  if (vector.length !== stored.length) return 0
  const bytes = new Int8Array(stored.buffer, stored.byteOffset, stored.length)
  let [product, own, other] = [0, 0, 0]
  for (let at = 0; at < bytes.length; at += 1) {
    const [one, two] = [vector[at]!, bytes[at]!]
    product += one * two
    own += one * one
    other += two * two
  }
  return own > 0 && other > 0 ? product / Math.sqrt(own * other) : 0
}

/** What a place in one order counts: the first places differ less than their numbers say. */
const rankBase = 60

/**
 * Puts several orders of the same things into one: whatever stands high in one of them, or in several, comes first (reciprocal rank fusion).
 * @param keyOf tells what is the same
 */
export function fuse<Hit extends { readonly score: number }>(orders: readonly (readonly Hit[])[], keyOf: (hit: Hit) => string): Hit[] {
  const fused = new Map<string, Hit>()
  for (const order of orders)
    for (const [at, hit] of order.entries()) {
      const known = fused.get(keyOf(hit))
      fused.set(keyOf(hit), { ...(known ?? hit), score: (known?.score ?? 0) + 1 / (rankBase + at + 1) })
    }
  return [...fused.values()].sort((one, other) => other.score - one.score)
}
