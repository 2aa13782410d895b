/** Counts calls in progress, so that a stop can wait for their results. */
export function createUnderWay() {
  let count = 0
  let none = Promise.withResolvers<void>()
  return {
    /** @returns a function to call at its end */
    begun(): () => void {
      count += 1
      return () => {
        count -= 1
        if (count > 0) return
        none.resolve()
        none = Promise.withResolvers<void>()
      }
    },

    /** Resolves when no call is in progress, or after a number of ms. */
    async over(withinMs: number): Promise<void> {
      if (count === 0) return
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, withinMs)
      await Promise.race([none.promise, late])
      clearTimeout(timer)
    },
  }
}
