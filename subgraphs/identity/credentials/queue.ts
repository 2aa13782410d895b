/** Who waits where: a person at an address that signed in to the account before, or anybody else. */
export type Lane = 'known' | 'strangers'

/** Counts who is inside by key. */
export interface Crowd {
  /** Lets one in; false when there are as many as there may be. */
  enter(key: string): boolean
  leave(key: string): void
}

export function createCrowd(most: number): Crowd {
  const inside = new Map<string, number>()
  return {
    enter(key) {
      const count = inside.get(key) ?? 0
      if (count >= most) return false
      inside.set(key, count + 1)
      return true
    },
    leave(key) {
      const count = inside.get(key) ?? 0
      if (count > 1) inside.set(key, count - 1)
      else inside.delete(key)
    },
  }
}

/** Runs what has one key one after another, in the order in which it came. */
export function createTurns() {
  const last = new Map<string, Promise<unknown>>()
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work)
    const settled = turn.catch(() => {})
    last.set(key, settled)
    try {
      return await turn
    } finally {
      if (last.get(key) === settled) last.delete(key)
    }
  }
}

/**
 * Lets so many work at once, first come, first served within each of two lanes. A desk that becomes free goes to the known as long as none
 * of them is at one, and else to strangers first: neither lane waits for the whole other one.
 */
export function createDesks(count: number, mostWaiting: Readonly<Record<Lane, number>>) {
  const waiting: Record<Lane, (() => void)[]> = { known: [], strangers: [] }
  const working: Record<Lane, number> = { known: 0, strangers: 0 }

  const next = (): Lane | null => {
    const preferred: Lane = working.known === 0 ? 'known' : 'strangers'
    const other: Lane = preferred === 'known' ? 'strangers' : 'known'
    return waiting[preferred].length > 0 ? preferred : waiting[other].length > 0 ? other : null
  }

  return {
    /** Does the work when its turn has come; null, without doing it, when too many of its lane wait. */
    async use<Result>(lane: Lane, work: () => Promise<Result>): Promise<Result | null> {
      if (working.known + working.strangers < count) working[lane] += 1
      else if (waiting[lane].length < mostWaiting[lane]) await new Promise<void>(resolve => waiting[lane].push(resolve))
      else return null
      try {
        return await work()
      } finally {
        working[lane] -= 1
        // Whoever is called counts at once: nobody slips in before.
        const called = next()
        if (called) {
          working[called] += 1
          waiting[called].shift()!()
        }
      }
    },
  }
}
