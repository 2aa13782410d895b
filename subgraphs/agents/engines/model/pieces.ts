/**
 * Yields what comes, by hand: a generator would hold its source until the next piece.
 * @param next  gives the next piece; undefined at the end
 * @param leave ends the source; called once, however it ends
 */
export function piecesBy<Value>(next: () => Promise<Value | undefined>, leave: () => unknown = () => {}): AsyncIterableIterator<Value> {
  let isOver = false
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    if (!isOver) {
      isOver = true
      await leave()
    }
    return { value: undefined, done: true }
  }
  return {
    async next() {
      if (isOver) return { value: undefined, done: true }
      try {
        const value = await next()
        return value === undefined ? await end() : { value, done: false }
      } catch (error) {
        await end()
        throw error
      }
    },
    return: end,
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
