/** The queue of a sign-in: for a person at an address that signed in to the account before, or for strangers. */
export type Lane = 'known' | 'strangers'

/** Creates queues by key: work of one key runs one after another, in order of arrival. */
export function createQueues() {
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
 * Creates a semaphore with first-come-first-served order within each of two lanes. A free permit goes to the known lane
 * if that holds none, else to strangers first, so that neither lane waits for the whole other one.
 * @param mostStrangers maximum permits of strangers; below the total, known callers never wait for a stranger @default
 * all
 */
export function createSemaphore(permits: number, mostWaiting: Readonly<Record<Lane, number>>, mostStrangers = permits) {
  const waiting: Record<Lane, (() => void)[]> = { known: [], strangers: [] }
  const working: Record<Lane, number> = { known: 0, strangers: 0 }

  const hasRoom = (lane: Lane): boolean => working.known + working.strangers < permits && (lane === 'known' || working.strangers < mostStrangers)
  const next = (): Lane | null => {
    const preferred: Lane = working.known === 0 ? 'known' : 'strangers'
    const other: Lane = preferred === 'known' ? 'strangers' : 'known'
    return [preferred, other].find(lane => waiting[lane].length > 0 && hasRoom(lane)) ?? null
  }

  return {
    /** Runs the work when its turn has come; null, without running it, when too many of its lane wait. */
    async use<Result>(lane: Lane, work: () => Promise<Result>): Promise<Result | null> {
      if (hasRoom(lane)) working[lane] += 1
      else if (waiting[lane].length < mostWaiting[lane]) await new Promise<void>(resolve => waiting[lane].push(resolve))
      else return null
      try {
        return await work()
      } finally {
        working[lane] -= 1
        // The next caller is counted at once, so that nobody else takes its place.
        const called = next()
        if (called) {
          working[called] += 1
          waiting[called].shift()!()
        }
      }
    },
  }
}
