import { DomainError } from '../errors.ts'

/** Number of slots, and how many of them one party may hold. */
export interface PlaceLimits {
  readonly all: number
  readonly ofParty: number
  /** Maximum number of waiting pieces of work of one party. @default unlimited */
  readonly waiting?: number
}

/** How long a piece of work waits for a slot. */
export interface Patience {
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal | undefined
  /** The time of `performance.now()` at which the wait ends. */
  readonly until: number
}

/** Party of the process's own work, such as a sweep: it may hold every slot. */
export const noParty = ''

/** Slots, such as connections of a pool, that parties take in turn. */
export interface Places {
  /**
   * Takes a slot for a party, to be released by `leave`: null when one is free, else a promise of it.
   * @param patience how long to wait @default unlimited
   * @throws DomainError RATE_LIMITED at once when too much of the party waits; the promise rejects with it when no slot is
   * free in time, and with
   *   UPSTREAM_FAILED when the signal aborts
   */
  enter(party: string, patience?: Patience): Promise<void> | null
  leave(party: string): void
  /** Whether the party has a free slot within its own limit, and none of its work waits. */
  hasRoom(party: string): boolean
  /** Runs work in a slot of a party, and releases the slot however the work ends. */
  run<Result>(party: string, work: () => Promise<Result>): Promise<Result>
}

interface Line {
  running: number
  /** Starts of the waiting pieces of work, in order. */
  readonly waiting: Set<() => void>
}

/**
 * Creates slots that parties take in turn: no party holds more than its limit, and when all are taken the waiting
 * parties get free ones in round-robin order. The holder of a slot must not wait for another slot of the same kind: two
 * such holders would wait for each other.
 */
export function createPlaces({ all, ofParty, waiting = Number.POSITIVE_INFINITY }: PlaceLimits): Places {
  const lines = new Map<string, Line>()
  /** Waiting parties below their limit, in the order in which they get a slot. */
  const turn = new Set<string>()
  let running = 0

  const limitOf = (party: string) => (party === noParty ? all : ofParty)
  const lineOf = (party: string): Line => {
    const known = lines.get(party)
    if (known) return known
    const line: Line = { running: 0, waiting: new Set() }
    lines.set(party, line)
    return line
  }
  const take = (line: Line) => {
    running += 1
    line.running += 1
  }
  const tidy = (party: string, line: Line) => {
    if (line.waiting.size === 0 || line.running >= limitOf(party)) turn.delete(party)
    else turn.add(party)
    if (line.waiting.size === 0 && line.running === 0) lines.delete(party)
  }
  const proceed = () => {
    while (running < all) {
      const [party] = turn
      if (party === undefined) return
      const line = lines.get(party)!
      const [begin] = line.waiting
      line.waiting.delete(begin!)
      take(line)
      // Moves to the end of the round-robin queue.
      turn.delete(party)
      tidy(party, line)
      begin!()
    }
  }
  const wait = (party: string, line: Line, patience: Patience | undefined): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let timer: NodeJS.Timeout | undefined
    const settle = () => {
      clearTimeout(timer)
      patience?.signal?.removeEventListener('abort', abort)
    }
    const begin = () => {
      settle()
      resolve()
    }
    const fail = (refusal: DomainError) => {
      settle()
      line.waiting.delete(begin)
      tidy(party, line)
      reject(refusal)
    }
    const abort = () => fail(new DomainError('UPSTREAM_FAILED', 'The operation was ended before it began.'))
    patience?.signal?.addEventListener('abort', abort)
    if (patience && Number.isFinite(patience.until)) timer = setTimeout(() => fail(tooMuch()), Math.max(0, patience.until - performance.now()))
    line.waiting.add(begin)
    tidy(party, line)
    return promise
  }
  const enter: Places['enter'] = (party, patience) => {
    const line = lineOf(party)
    if (running < all && line.running < limitOf(party) && line.waiting.size === 0) {
      take(line)
      return null
    }
    if (line.waiting.size < waiting) return wait(party, line, patience)
    tidy(party, line)
    throw tooMuch()
  }
  const leave: Places['leave'] = party => {
    const line = lines.get(party)!
    running -= 1
    line.running -= 1
    tidy(party, line)
    proceed()
  }
  return {
    enter,
    leave,
    hasRoom(party) {
      const line = lines.get(party)
      return line === undefined || (line.running < limitOf(party) && line.waiting.size === 0)
    },
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

const tooMuch = () =>
  new DomainError('RATE_LIMITED', 'Too many of your requests are running already: wait for their answers, then try again.', { retryAfter: 1 })
