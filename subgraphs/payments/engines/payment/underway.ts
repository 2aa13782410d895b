/** Calls to the processor that outlive the request which began them. */
export interface Underway {
  /** Runs work that nobody may wait for; whoever does gets what comes of it. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Resolves when nothing is under way any more, or after so many ms: what is left then is repaired by whoever is due next. */
  ended(ms: number): Promise<void>
}

/** Keeps count of what is under way. @param failed is told of work that threw */
export function keepUnderway(failed: (cause: unknown) => void): Underway {
  const running = new Set<Promise<unknown>>()
  return {
    run(work) {
      const promise = work()
      const counted = promise.catch(failed).finally(() => running.delete(counted))
      running.add(counted)
      return promise
    },
    async ended(ms) {
      const late = new AbortController()
      const time = new Promise<void>(resolve => {
        const timer = setTimeout(resolve, ms)
        late.signal.addEventListener('abort', () => clearTimeout(timer))
      })
      await Promise.race([Promise.all(running), time])
      late.abort()
    },
  }
}
