import { type Cause, doFor } from '../../platform/caller/cause.ts'
import { createPlaces, type Patience } from '../../platform/caller/places.ts'
import type { Claim } from '../access/callers/claim.ts'
import type { InTurn } from '../engine/engine.ts'

/** Limits on concurrent work: of one caller, of one organization, and of all. */
export interface ShareLimits {
  /** Maximum concurrent operations of one caller. */
  readonly each: number
  /** Maximum waiting operations of one caller, which start in the order of arrival. */
  readonly waiting: number
  /** Maximum concurrent operations of one organization, over all its callers. */
  readonly ofOrganization: number
  /** Maximum concurrent operations of all callers together. */
  readonly all: number
  /** Maximum milliseconds that an operation waits. */
  readonly timeoutMs: number
}

/** Limits for operations, over all protocols. */
export const operationShare: ShareLimits = { each: 16, waiting: 256, ofOrganization: 32, all: 256, timeoutMs: 20_000 }
/**
 * Limits for starting streams. A client that reconnects subscribes to all its streams at once and does not repeat a
 * rejected one, so none is rejected here and none takes an operation's slot. `SUBSCRIPTIONS_PER_CALLER` limits their
 * number.
 */
export const beginningShare: ShareLimits = {
  each: 8,
  waiting: Number.POSITIVE_INFINITY,
  ofOrganization: 16,
  all: 64,
  timeoutMs: Number.POSITIVE_INFINITY,
}
/**
 * Limits for events of streams. Events wait without a limit: each stream handles one at a time, and later events of the
 * same subject count once.
 */
export const eventShare: ShareLimits = {
  each: 4,
  waiting: Number.POSITIVE_INFINITY,
  ofOrganization: 16,
  all: 64,
  timeoutMs: Number.POSITIVE_INFINITY,
}
/** Limits for forwarded requests, until their answers begin. */
export const forwardShare: ShareLimits = { each: 16, waiting: 512, ofOrganization: 32, all: 256, timeoutMs: 20_000 }
/**
 * Limits for forwarded requests that wait for a model, or for a client that uploads a video. They take none of the
 * slots above.
 */
export const slowForwardShare = { each: 128, ofOrganization: 256, all: 1024 } as const

/**
 * Limits concurrent work. Waiting organizations take turns, as do the callers within one, however many operations each
 * has waiting.
 */
export interface Shares {
  /**
   * Takes a slot for a caller, to be released by `leave`: null when one is free, else a promise of it.
   * @param signal aborts when the caller no longer waits: no slot is taken then
   * @throws DomainError RATE_LIMITED when the caller has too many operations waiting, or when no slot is free in time
   */
  enter(claim: Claim, signal?: AbortSignal): Promise<void> | null
  leave(claim: Claim): void
  /** Whether the caller has a free slot and none of its work waits. */
  hasRoom(claim: Claim): boolean
  /** Runs work in a slot of the caller. */
  run<Result>(claim: Claim, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
}

export function createShares({ each, waiting, ofOrganization, all, timeoutMs }: ShareLimits): Shares {
  const callers = createPlaces({ ofParty: each, waiting, all: Number.POSITIVE_INFINITY })
  const organizations = createPlaces({ ofParty: ofOrganization, all })

  /** Takes a slot of the organization for a caller that holds one of its own. */
  const enterOrganization = ({ caller, organization }: Claim, patience: Patience): Promise<void> | null => {
    const place = organizations.enter(organization, patience)
    return place === null ? null : place.catch(refusal => release(refusal, caller))
  }
  const release = (refusal: unknown, caller: string): never => {
    callers.leave(caller)
    throw refusal
  }
  const enter: Shares['enter'] = (claim, signal) => {
    const patience = { signal, until: Number.isFinite(timeoutMs) ? performance.now() + timeoutMs : timeoutMs }
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

/** Returns a function that handles a caller's events in its slots, in the context of their cause. */
export const inTurnOf = (events: Shares, claim: Claim, cause: Cause | null): InTurn => {
  const inTurn: InTurn = work => doFor(cause, () => events.run(claim, work))
  return Object.assign(inTurn, { hasRoom: () => events.hasRoom(claim) })
}
