/** Counts what is open at this moment, by key: no more keys are remembered than there are open things. */
export interface Tally {
  /** Counts one more, and says how many there are with it. */
  enter(key: string): number
  /** Takes one away that was counted. */
  leave(key: string): void
}

export function createTally(): Tally {
  const counts = new Map<string, number>()
  return {
    enter(key) {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count
    },
    leave(key) {
      const count = (counts.get(key) ?? 0) - 1
      if (count > 0) counts.set(key, count)
      else counts.delete(key)
    },
  }
}
