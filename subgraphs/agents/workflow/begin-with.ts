/** Yields some values at once, and then those of a source, which is ended with it. By hand: a generator would hold the source until its next value. */
export function beginWith<Value>(first: readonly Value[], source: AsyncIterableIterator<Value>): AsyncIterableIterator<Value> {
  const waiting = [...first]
  return {
    next: async () => (waiting.length > 0 ? { value: waiting.shift()!, done: false } : source.next()),
    return: async () => {
      waiting.length = 0
      await source.return?.()
      return { value: undefined, done: true }
    },
    async throw(error) {
      await source.return?.()
      throw error
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
