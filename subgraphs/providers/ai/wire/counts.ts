/** Maximum that counts as a number of tokens: no call comes near it. */
const mostCounted = 2_000_000_000

/** Reads a vendor's number of tokens; null for anything else. */
export const tokensIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(Math.ceil(value), mostCounted) : null
