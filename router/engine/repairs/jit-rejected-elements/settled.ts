/**
 * Awaits the elements of a list; a rejected one becomes an error value at its index, which graphql-js reports like the
 * rejection. Returns the very same list when no element is a promise.
 */
export function settled(list: unknown): unknown {
  if (!Array.isArray(list)) return list
  for (const item of list) if (isThenable(item)) return Promise.all(list.map(each => (isThenable(each) ? each.then(undefined, asError) : each)))
  return list
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(`Unexpected error value: ${String(cause)}`))

export const isThenable = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
