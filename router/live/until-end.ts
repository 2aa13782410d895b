import type { ResultStream } from '../engine/engine.ts'

/** A stream that says once that it has ended, however it did. */
export function untilEnd(stream: ResultStream, ended: () => void): ResultStream {
  let isOver = false
  const end = () => {
    if (!isOver) ended()
    isOver = true
  }
  return {
    async next() {
      try {
        const result = await stream.next()
        if (result.done) end()
        return result
      } catch (cause) {
        end()
        throw cause
      }
    },
    return() {
      end()
      return stream.return()
    },
    throw(cause: unknown) {
      end()
      return stream.throw?.(cause) ?? Promise.reject(cause)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
