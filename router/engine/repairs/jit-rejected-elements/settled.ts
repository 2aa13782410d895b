/**
 * A list whose elements have all come: one that was rejected is an error at its place, which graphql-js tells as it would tell the
 * rejection. The very same list when none of its elements is awaited.
 */
export function settled(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  for (const item of list) if (isThenable(item)) return Promise.all(list.map(each => (isThenable(each) ? each.then(undefined, asError) : each)))
  return list
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(`Unexpected error value: ${String(cause)}`))

export const isThenable = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
