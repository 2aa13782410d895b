type Pieces = AsyncIterable<Uint8Array>

const over = { value: undefined, done: true } as const

/**
 * Passes pieces on: each is read from the source when its reader asks, and leaving the stream leaves the source.
 * @param each called with each piece; an error that it throws ends the stream
 * @param ended called when all have passed; an error that it throws replaces the end
 */
export const passing = (source: Pieces, each: (piece: Uint8Array) => Uint8Array, ended?: () => void): Pieces => ({
  [Symbol.asyncIterator]() {
    const inner = source[Symbol.asyncIterator]()
    const leave = async () => void (await inner.return?.())
    return {
      async next() {
        const found = await inner.next()
        try {
          if (!found.done) return { value: each(found.value), done: false }
          ended?.()
          return over
        } catch (error) {
          await leave()
          throw error
        }
      },
      async return() {
        await leave()
        return over
      },
    }
  },
})

/** Concatenates several sources, each opened when the one before it has ended. */
export const following = (sources: readonly (() => Promise<Pieces>)[]): Pieces => ({
  [Symbol.asyncIterator]() {
    let at = 0
    let inner: AsyncIterator<Uint8Array> | null = null
    return {
      async next() {
        for (;;) {
          if (inner) {
            const found = await inner.next()
            if (!found.done) return found
            inner = null
          }
          const open = sources[at++]
          if (!open) return over
          inner = (await open())[Symbol.asyncIterator]()
        }
      },
      async return() {
        at = sources.length
        await inner?.return?.()
        return over
      },
    }
  },
})

/** A stream of a single piece. */
export const single = (piece: Uint8Array): Pieces => ({
  [Symbol.asyncIterator]() {
    let left: Uint8Array | null = piece
    return {
      async next() {
        const value = left
        left = null
        return value ? { value, done: false } : over
      },
    }
  },
})
