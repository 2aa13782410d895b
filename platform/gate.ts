/** Lets at most so many callers through at the same time; the others wait in the order in which they came. */
export type Gate = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Makes a gate.
 * @param most how many may be inside at once
 */
export function createGate(most: number): Gate {
  let inside = 0
  const waiting: (() => void)[] = []
  return async work => {
    if (inside >= most) await new Promise<void>(resolve => waiting.push(resolve))
    else inside += 1
    try {
      return await work()
    } finally {
      // Whoever waits takes the place that becomes free: the count stays.
      const next = waiting.shift()
      if (next) next()
      else inside -= 1
    }
  }
}
