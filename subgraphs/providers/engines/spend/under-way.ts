/** Counts calls that are under way, so that whoever stops can wait for what becomes of them. */
export function createUnderWay() {
  let count = 0
  let none = Promise.withResolvers<void>()
  return {
    /** @returns what is called once it has come to its end */
    begun(): () => void {
      count += 1
      return () => {
        count -= 1
        if (count > 0) return
        none.resolve()
        none = Promise.withResolvers<void>()
      }
    },

    /** Ends when nothing is under way, or after so many milliseconds. */
    async over(withinMs: number): Promise<void> {
      if (count === 0) return
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, withinMs)
      await Promise.race([none.promise, late])
      clearTimeout(timer)
    },
  }
}
