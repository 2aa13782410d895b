/** An iterator whose `return()` takes effect at once. */
export interface PromptStream<Value> extends AsyncIterableIterator<Value> {
  return(): Promise<IteratorResult<Value>>
}

/**
 * Maps the values of a source. `return()` settles every pending `next()` and ends the source without waiting: an async
 * generator would keep the source until its next value. When the source or the map throws, the stream ends after the
 * value that `failed` returns for the error.
 * @param ended called once, however the stream ends
 */
export function mapStream<Source, Value>(
  source: AsyncIterator<Source>,
  map: (value: Source) => Promise<Value>,
  failed: (cause: unknown) => Value,
  ended: () => void = () => {},
): PromptStream<Value> {
  const pending = new Set<(result: IteratorResult<Value>) => void>()
  let over = false
  const end = () => {
    if (over) return
    over = true
    for (const settle of pending) settle({ value: undefined, done: true })
    pending.clear()
    ended()
  }
  const stop = () => {
    if (over) return
    end()
    // The source's remaining output is ignored, and it may take its time.
    Promise.resolve(source.return?.()).catch(() => {})
  }
  const advance = async (settle: (result: IteratorResult<Value>) => void) => {
    try {
      const result = await source.next()
      if (over) return
      if (result.done) return end()
      const value = await map(result.value)
      if (pending.delete(settle)) settle({ value, done: false })
    } catch (cause) {
      if (pending.delete(settle)) settle({ value: failed(cause), done: false })
      stop()
    }
  }
  return {
    next() {
      if (over) return Promise.resolve({ value: undefined, done: true })
      return new Promise(settle => {
        pending.add(settle)
        void advance(settle)
      })
    },
    return() {
      stop()
      return Promise.resolve({ value: undefined, done: true })
    },
    throw(cause: unknown) {
      stop()
      return Promise.reject(cause)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
