/** The most that is taken for a number of tokens: no call comes near it. */
const mostCounted = 2_000_000_000

/** A number of tokens as a vendor reports it; null for what is no such number. */
export const tokensIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(Math.ceil(value), mostCounted) : null
