import { type Cause, doFor } from '../../platform/caller/cause.ts'
import { createPlaces, type Patience } from '../../platform/caller/places.ts'
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
  const callers = createPlaces({ ofParty: each, waiting, all: Number.POSITIVE_INFINITY })
  const organizations = createPlaces({ ofParty: ofOrganization, all })

  /** Takes the organization's place for a caller who has one of their own. */
  const enterOrganization = ({ caller, organization }: Claim, patience: Patience): Promise<void> | null => {
    const place = organizations.enter(organization, patience)
    return place === null ? null : place.catch(refusal => release(refusal, caller))
  }
  const release = (refusal: unknown, caller: string): never => {
    callers.leave(caller)
    throw refusal
  }
  const enter: Shares['enter'] = (claim, signal) => {
    const patience = { signal, until: Number.isFinite(patienceMs) ? performance.now() + patienceMs : patienceMs }
    const place = callers.enter(claim.caller, patience)
    return place ? place.then(() => enterOrganization(claim, patience) ?? undefined) : enterOrganization(claim, patience)
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

/** Runs a caller's events in its places, under what they are done for. */
export const inTurnOf = (events: Shares, claim: Claim, cause: Cause | null): InTurn => {
  const inTurn: InTurn = work => doFor(cause, () => events.run(claim, work))
  return Object.assign(inTurn, { hasRoom: () => events.hasRoom(claim) })
}
