/** How many places there are, and how many of them one party has at most. */
export interface PlaceLimits {
  readonly all: number
  readonly ofParty: number
}

/** The party of what a process reads of its own accord: it has as many places as there are. */
export const nobody = ''

/** Places that parties take in turn, such as connections of a pool. */
export interface Places {
  /** Takes a place for a party, which `leave` gives back: null when there is one, else a promise of it. */
  enter(party: string): Promise<void> | null
  leave(party: string): void
  /** Does work in a place of a party's. */
  run<Result>(party: string, work: () => Promise<Result>): Promise<Result>
}

interface Line {
  running: number
  readonly waiting: (() => void)[]
}

/**
 * Makes places that parties take in turn: one party never has more of them than its limit, and where all are taken the parties that wait get
 * them one after the other. Whoever holds a place waits for nothing else, so nobody waits for ever.
 */
export function createPlaces({ all, ofParty }: PlaceLimits): Places {
  const lines = new Map<string, Line>()
  /** Parties that wait and may have another place, in the order in which they get one. */
  const turn = new Set<string>()
  let running = 0

  const limitOf = (party: string) => (party === nobody ? all : ofParty)
  const take = (line: Line) => {
    running += 1
    line.running += 1
  }
  const proceed = () => {
    while (running < all) {
      const [party] = turn
      if (party === undefined) return
      const line = lines.get(party)!
      take(line)
      turn.delete(party)
      const begin = line.waiting.shift()!
      if (line.waiting.length > 0 && line.running < limitOf(party)) turn.add(party)
      begin()
    }
  }
  const enter: Places['enter'] = party => {
    let line = lines.get(party)
    if (!line) {
      line = { running: 0, waiting: [] }
      lines.set(party, line)
    }
    if (running < all && line.running < limitOf(party) && line.waiting.length === 0) {
      take(line)
      return null
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    line.waiting.push(resolve)
    if (line.running < limitOf(party)) turn.add(party)
    return promise
  }
  const leave: Places['leave'] = party => {
    const line = lines.get(party)!
    running -= 1
    line.running -= 1
    if (line.waiting.length > 0) turn.add(party)
    else if (line.running === 0) lines.delete(party)
    proceed()
  }
  return {
    enter,
    leave,
    async run(party, work) {
      const place = enter(party)
      if (place) await place
      try {
        return await work()
      } finally {
        leave(party)
      }
    },
  }
}
