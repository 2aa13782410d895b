import { neighbourhoodOf } from '../../platform/caller/address.ts'
import { type Cause, doFor } from '../../platform/caller/cause.ts'
import { Refusal } from '../../platform/errors.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import type { InTurn } from '../engine/engine.ts'

/** How much runs at once, for one caller and for all. */
export interface ShareLimits {
  /** What runs for one caller at the same time. */
  readonly each: number
  /** What of one caller may wait beside it, first come first served. */
  readonly waiting: number
  /** What runs for all callers together. */
  readonly all: number
  /** Milliseconds that anything waits at most. */
  readonly patienceMs: number
}

/** Operations, whichever way they come. */
export const operationShare: ShareLimits = { each: 16, waiting: 64, all: 256, patienceMs: 20_000 }
/**
 * Beginnings of streams, whose number has a bound of its own (`SUBSCRIPTIONS_PER_CALLER`): clients subscribe all that they have in one
 * moment when they dial again, and what was refused then they would not ask for again. So none of it is refused, and it takes no
 * operation's place.
 */
export const beginningShare: ShareLimits = { each: 8, waiting: Number.POSITIVE_INFINITY, all: 64, patienceMs: Number.POSITIVE_INFINITY }
/** Events of streams. They wait as long as it takes: each stream has one under way, and what comes meanwhile for one subject counts once. */
export const eventShare: ShareLimits = { each: 4, waiting: Number.POSITIVE_INFINITY, all: 64, patienceMs: Number.POSITIVE_INFINITY }

/** Lets callers run so much at once; where they wait for each other they take turns, however much one of them has waiting. */
export interface Shares {
  /**
   * Takes a place for a caller, which `leave` gives back: null when there is one, else a promise of it.
   * @param signal aborts when nobody waits any more: then no place is taken
   * @throws Refusal RATE_LIMITED when too much of the caller waits, or when none is free in time
   */
  enter(caller: string, signal?: AbortSignal): Promise<void> | null
  leave(caller: string): void
  /** Whether the caller has a place that nothing else of the caller's waits for. */
  hasRoom(caller: string): boolean
  /** Does work in a place of the caller's. */
  run<Result>(caller: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

interface Share {
  running: number
  /** Begins what waits, in order. */
  readonly line: Set<() => void>
}

/** Under what everything is counted that one caller does at once: a person, a key, a program, or an anonymous caller's address. */
export const callerName = ({ userId, keyId, appId }: Viewer, address: string): string =>
  keyId === null ? (userId ?? appId ?? neighbourhoodOf(address)) : `${keyMark}${keyId}`

/** Whether such a name is that of an API key. */
export const isKeyName = (name: string): boolean => name.startsWith(keyMark)

const keyMark = 'key:'

export function createShares({ each, waiting, all, patienceMs }: ShareLimits): Shares {
  const shares = new Map<string, Share>()
  /** Who could go on at once if the process had a place, in the order in which they take turns. */
  const turn = new Set<string>()
  let running = 0

  const shareOf = (caller: string): Share => {
    const known = shares.get(caller)
    if (known) return known
    const share: Share = { running: 0, line: new Set() }
    shares.set(caller, share)
    return share
  }
  const tidy = (caller: string, share: Share) => {
    if (share.line.size === 0 || share.running >= each) turn.delete(caller)
    else turn.add(caller)
    if (share.line.size === 0 && share.running === 0) shares.delete(caller)
  }
  const proceed = () => {
    while (running < all) {
      const [caller] = turn
      if (caller === undefined) return
      const share = shares.get(caller)!
      const [begin] = share.line
      share.line.delete(begin!)
      running += 1
      share.running += 1
      // To the end of those who take turns.
      turn.delete(caller)
      tidy(caller, share)
      begin!()
    }
  }
  const wait = (caller: string, share: Share, signal: AbortSignal | undefined) =>
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
        share.line.delete(begin)
        tidy(caller, share)
        reject(refusal)
      }
      const leave = () => giveUp(new Refusal('UPSTREAM_FAILED', 'The operation was ended before it began.'))
      signal?.addEventListener('abort', leave)
      if (Number.isFinite(patienceMs)) timer = setTimeout(() => giveUp(tooMuch()), patienceMs)
      share.line.add(begin)
      tidy(caller, share)
    })

  const enter: Shares['enter'] = (caller, signal) => {
    const share = shareOf(caller)
    if (running < all && share.running < each && share.line.size === 0) {
      running += 1
      share.running += 1
      return null
    }
    if (share.line.size >= waiting) throw tooMuch()
    return wait(caller, share, signal)
  }
  const leave = (caller: string) => {
    const share = shares.get(caller)!
    running -= 1
    share.running -= 1
    tidy(caller, share)
    proceed()
  }
  return {
    enter,
    leave,
    hasRoom(caller) {
      const share = shares.get(caller)
      return share === undefined || (share.running < each && share.line.size === 0)
    },
    async run(caller, work, signal) {
      const place = enter(caller, signal)
      if (place) await place
      try {
        return await work()
      } finally {
        leave(caller)
      }
    },
  }
}

/** Runs a caller's events in its places, under what they are done for. */
export const inTurnOf = (events: Shares, caller: string, cause: Cause | null): InTurn => {
  const inTurn: InTurn = work => doFor(cause, () => events.run(caller, work))
  return Object.assign(inTurn, { hasRoom: () => events.hasRoom(caller) })
}

const tooMuch = () => new Refusal('RATE_LIMITED', 'Too much that you asked for is under way already: wait for answers, then ask again.', { retryAfter: 1 })
