import { type Cause, doFor } from '../../platform/caller/cause.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Claim } from '../access/callers/claim.ts'
import type { InTurn } from '../engine/engine.ts'

/** How much runs at once: for one caller, for one organization, and for all. */
export interface ShareLimits {
  /** What runs for one caller at the same time. */
  readonly each: number
  /** Waiting operations of one caller, in the order of arrival. */
  readonly waiting: number
  /** What runs for one organization at the same time, whoever of it calls. */
  readonly ofOrganization: number
  /** What runs for all callers together. */
  readonly all: number
  /** Milliseconds that anything waits at most. */
  readonly patienceMs: number
}

/** Operations, whichever way they come. */
export const operationShare: ShareLimits = { each: 16, waiting: 256, ofOrganization: 32, all: 256, patienceMs: 20_000 }
/**
 * Beginnings of streams, whose number has a bound of its own (`SUBSCRIPTIONS_PER_CALLER`): clients subscribe all that they have in one
 * moment when they dial again, and what was refused then they would not ask for again. So none of it is refused, and it takes no
 * operation's place.
 */
export const beginningShare: ShareLimits = {
  each: 8,
  waiting: Number.POSITIVE_INFINITY,
  ofOrganization: 16,
  all: 64,
  patienceMs: Number.POSITIVE_INFINITY,
}
/** Events of streams. Events wait without a limit: each stream handles one at a time, and later ones of the same subject count once. */
export const eventShare: ShareLimits = {
  each: 4,
  waiting: Number.POSITIVE_INFINITY,
  ofOrganization: 16,
  all: 64,
  patienceMs: Number.POSITIVE_INFINITY,
}
/** Forwarded requests, until their answers begin. */
export const forwardShare: ShareLimits = { each: 16, waiting: 512, ofOrganization: 32, all: 256, patienceMs: 20_000 }
/** Forwarded requests that wait for somebody else, such as a model or a client that sends a film: they take none of the places above. */
export const slowForwardShare = { each: 128, ofOrganization: 256, all: 1024 } as const

/**
 * Lets callers run so much at once. Waiting organizations take turns, as do the callers within one, however many operations wait.
 */
export interface Shares {
  /**
   * Takes a place for a caller, which `leave` gives back: null when there is one, else a promise of it.
   * @param signal aborts when nobody waits any more: then no place is taken
   * @throws Refusal RATE_LIMITED when too much of the caller waits, or when none is free in time
   */
  enter(claim: Claim, signal?: AbortSignal): Promise<void> | null
  leave(claim: Claim): void
  /** Whether the caller has a place that nothing else waits for. */
  hasRoom(claim: Claim): boolean
  /** Does work in a place of the caller's. */
  run<Result>(claim: Claim, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

export function createShares({ each, waiting, ofOrganization, all, patienceMs }: ShareLimits): Shares {
  const callers = createLines({ each, waiting, all: Number.POSITIVE_INFINITY })
  const organizations = createLines({ each: ofOrganization, waiting: Number.POSITIVE_INFINITY, all })

  /** Takes the organization's place for a caller who has one of their own. */
  const enterOrganization = ({ caller, organization }: Claim, wait: Wait): Promise<void> | null => {
    const place = organizations.enter(organization, wait)
    return place === null ? null : place.catch(refusal => release(refusal, caller))
  }
  const release = (refusal: unknown, caller: string): never => {
    callers.leave(caller)
    throw refusal
  }
  const enter: Shares['enter'] = (claim, signal) => {
    const wait = { signal, until: Number.isFinite(patienceMs) ? performance.now() + patienceMs : patienceMs }
    const place = callers.enter(claim.caller, wait)
    return place ? place.then(() => enterOrganization(claim, wait) ?? undefined) : enterOrganization(claim, wait)
  }
  const leave: Shares['leave'] = ({ caller, organization }) => {
    organizations.leave(organization)
    callers.leave(caller)
  }
  return {
    enter,
    leave,
    hasRoom: ({ caller, organization }) => callers.hasRoom(caller) && organizations.hasRoom(organization),
    async run(claim, work, signal) {
      const place = enter(claim, signal)
      if (place) await place
      try {
        return await work()
      } finally {
        leave(claim)
      }
    },
  }
}

/** For how long something waits. */
interface Wait {
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal | undefined
  /** The time of `performance.now()` at which it is refused. */
  readonly until: number
}

interface Line {
  running: number
  /** Begins what waits, in order. */
  readonly waiting: Set<() => void>
}

/** Places that several names take, each in a line of its own; the names take turns at places that all of them share. */
function createLines({ each, waiting, all }: Pick<ShareLimits, 'each' | 'waiting' | 'all'>) {
  const lines = new Map<string, Line>()
  /** Whose line could go on at once if there were a place, in the order in which they take turns. */
  const turn = new Set<string>()
  let running = 0

  const lineOf = (name: string): Line => {
    const known = lines.get(name)
    if (known) return known
    const line: Line = { running: 0, waiting: new Set() }
    lines.set(name, line)
    return line
  }
  const tidy = (name: string, line: Line) => {
    if (line.waiting.size === 0 || line.running >= each) turn.delete(name)
    else turn.add(name)
    if (line.waiting.size === 0 && line.running === 0) lines.delete(name)
  }
  const proceed = () => {
    while (running < all) {
      const [name] = turn
      if (name === undefined) return
      const line = lines.get(name)!
      const [begin] = line.waiting
      line.waiting.delete(begin!)
      running += 1
      line.running += 1
      // Moves to the end of the round-robin queue.
      turn.delete(name)
      tidy(name, line)
      begin!()
    }
  }
  const wait = (name: string, line: Line, { signal, until }: Wait) =>
    new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const settle = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
      }
      const begin = () => {
        settle()
        resolve()
      }
      const giveUp = (refusal: Refusal) => {
        settle()
        line.waiting.delete(begin)
        tidy(name, line)
        reject(refusal)
      }
      const leave = () => giveUp(new Refusal('UPSTREAM_FAILED', 'The operation was ended before it began.'))
      signal?.addEventListener('abort', leave)
      if (Number.isFinite(until)) timer = setTimeout(() => giveUp(tooMuch()), Math.max(0, until - performance.now()))
      line.waiting.add(begin)
      tidy(name, line)
    })

  return {
    enter(name: string, patience: Wait): Promise<void> | null {
      const line = lineOf(name)
      if (running < all && line.running < each && line.waiting.size === 0) {
        running += 1
        line.running += 1
        return null
      }
      if (line.waiting.size >= waiting) throw tooMuch()
      return wait(name, line, patience)
    },
    leave(name: string): void {
      const line = lines.get(name)!
      running -= 1
      line.running -= 1
      tidy(name, line)
      proceed()
    },
    hasRoom(name: string): boolean {
      const line = lines.get(name)
      return line === undefined || (line.running < each && line.waiting.size === 0)
    },
  }
}

/** Runs a caller's events in its places, under what they are done for. */
export const inTurnOf = (events: Shares, claim: Claim, cause: Cause | null): InTurn => {
  const inTurn: InTurn = work => doFor(cause, () => events.run(claim, work))
  return Object.assign(inTurn, { hasRoom: () => events.hasRoom(claim) })
}

const tooMuch = () => new Refusal('RATE_LIMITED', 'Too much that you asked for is under way already: wait for answers, then ask again.', { retryAfter: 1 })
