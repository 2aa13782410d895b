import { placeOf } from '../connection/places.ts'
import { type Candidate, chooseConnection } from '../connection/rules.ts'
import type { Capabilities, Network } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Delivery, Target } from '../network/publication.ts'
import type { AttemptRow, Claimant } from '../stores/attempt.ts'
import type { KeptRateLimit } from '../stores/connection.ts'
import { farthestClaimMs, farthestPauseMs, farthestWaitMs, hasCome } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { type FailureCode, failure, unaskable } from './failure.ts'

/**
 * Time in ms after which another worker may take over preparing a call: waiting for a token takes at most 8 s. A worker
 * that takes over during a slow renewal waits for the same one.
 */
export const claimMs = 12_000
/** Maximum ms between recording the attempt and the call: later, another worker might already ask the network. */
export const beginWithinMs = 3_000
/** Time in ms for which a network must not list a post before it counts as not published. */
export const absentAfterMs = 120_000
/** Age in ms after which an unknown outcome waits for a person only. */
export const reconcileForMs = 24 * 3600_000
/** Time in ms for which a network may reject a text as a duplicate: attempts of that age may be the original. */
export const doubtForMs = 7 * 24 * 3600_000
/** Time in ms for which an unreachable network is tried, or asked about an interrupted call. */
export const timeoutMs = 3600_000
/** Time in ms that a network may take to process a post's media. */
export const processingForMs = 1800_000
/** Interval in ms at which a worker prolongs its claim while it prepares, or waits for the network's answer. */
export const prolongEveryMs = 4_000
/**
 * Time in ms for which an attempt without an outcome may still be answered: a call, a renewal and another call take
 * less.
 */
export const answerableMs = 60_000

export const noFailure = { failureCode: null, failureMessage: null, failedAt: null } as const
export const noClaim = { deliveryPhase: 'NONE', claimId: null, claimUntil: null } as const
export const noWait = { waitsUntil: null, waitingSince: null, waits: 0, prepared: null, prepareAt: null } as const

/** Whether it is too late to make an attempt's call. */
export const isLate = (attempt: { startedAt: Date }, now: Date): boolean => now.getTime() - attempt.startedAt.getTime() > beginWithinMs

/** Whether a post may be claimed for delivery in its present state. */
export function isDue(post: PostRow, predecessor: PostRow | null, now: Date): boolean {
  const at = dueAt(post, now)
  return at !== null && at <= now && (post.approval === 'NONE' || post.approval === 'APPROVED') && !post.held && !isHeldBy(predecessor)
}

/**
 * Returns when a scheduled post is to be sent if nothing else delays it: at its time, at its retry, or when the network
 * is next asked about media; null for a post that is not to be sent.
 */
export function dueAt({ status, scheduledAt, waitsUntil, prepareAt }: PostRow, now: Date): Date | null {
  if (status !== 'SCHEDULED' || !scheduledAt) return null
  const later = [hasCome(waitsUntil, now, farthestWaitMs) ? null : waitsUntil, hasCome(prepareAt, now, farthestPauseMs) ? null : prepareAt]
  return later.reduce<Date>((latest, at) => (at && at > latest ? at : latest), scheduledAt)
}

/** Whether the earlier post of a thread delays the later one: until it is published with the network's id. */
export const isHeldBy = (predecessor: PostRow | null): boolean => predecessor !== null && !(predecessor.status === 'PUBLISHED' && predecessor.platformPostId)

/** Returns the connection and the place for a post, or why there is none. */
export function wayOf<C extends Candidate>(
  connections: readonly C[],
  { platform, authorId, target }: Pick<PostRow, 'platform' | 'authorId' | 'target'>,
): { readonly connection: C; readonly target: Target | null } | { readonly failed: FailureCode; readonly detail: string } {
  const connection = chooseConnection(connections, platform, authorId, target)
  if (!connection) {
    const isConnected = target !== null && chooseConnection(connections, platform, authorId) !== null
    return isConnected ? { failed: 'TARGET_UNAVAILABLE', detail: 'it is not chosen for any connection of the brand' } : { failed: 'NO_CONNECTION', detail: '' }
  }
  const place = placeOf(connection, { target })
  if (place === 'TARGET_MISSING') return { failed: 'TARGET_UNAVAILABLE', detail: 'the post names none, and the connection has no default one' }
  if (place === 'TARGET_UNAVAILABLE') return { failed: 'TARGET_UNAVAILABLE', detail: 'the connection takes no posts there' }
  return { connection, target: place }
}

/**
 * Returns the post to answer, or to comment on: the earlier post of its thread, if it is on the same network, and for a
 * comment at the same place; null where later posts stand alone.
 * @param places of this post and of the earlier one
 */
export function repliesTo(
  post: PostRow,
  predecessor: PostRow | null,
  places: { readonly mine: Target | null; readonly earlier: Target | null },
): string | null {
  if (predecessor?.platform !== post.platform) return null
  const { thread } = everyNetwork[post.platform].capabilities
  if (thread === 'SEPARATE' || (thread === 'COMMENT' && !isSamePlace(places.mine, places.earlier))) return null
  return predecessor.platformPostId
}

const isSamePlace = (one: Target | null, other: Target | null): boolean => one?.kind === other?.kind && one?.externalId === other?.externalId

/** Returns how a network can be asked whether it has a post at this place. */
export const lookupOf = (network: Network, target: Target | null): Capabilities['lookup'] =>
  network.lookupOf?.(target) ?? everyNetwork[network.platform].capabilities.lookup

/** Returns until when a network's rate limit allows no posts of an account; null when it allows them. */
export function shutUntil(limit: KeptRateLimit | null, now: Date): Date | null {
  if (!limit?.resetsAt || limit.remaining > 0) return null
  const until = new Date(limit.resetsAt)
  return until > now ? until : null
}

/** Returns the changes of a post that waits for a known rate limit; null when that takes more than an hour. */
export function waitForLimit(post: Pick<PostRow, 'waitingSince' | 'waits'>, until: Date, now: Date): ReturnType<typeof wait> {
  const waitingSince = post.waitingSince ?? now
  if (until.getTime() - waitingSince.getTime() > timeoutMs) return null
  return { waitsUntil: until, waitingSince, waits: post.waits + 1 }
}

/** Whether nobody holds the post: never claimed, or by a worker whose time is over. */
export const isFree = ({ claimUntil }: Pick<PostRow, 'claimUntil'>, now: Date): boolean => hasCome(claimUntil, now, farthestClaimMs)

/** Final results of an attempt: all but a call that was not made, after which the post waits. */
export type Ending = Exclude<Delivery, { outcome: 'unsent' }>

/** Returns the changes of a post at the end of its attempt. */
export function settle(post: PostRow, delivery: Ending, now: Date, lookup: Capabilities['lookup']): Partial<PostRow> {
  const base = { ...noClaim, ...noWait }
  if (delivery.outcome === 'delivered')
    return { ...base, ...noFailure, status: 'PUBLISHED', publishedAt: now, platformPostId: delivery.platformPostId, permalink: delivery.permalink || null }
  if (delivery.outcome === 'unknown') {
    const told = lookup === 'NONE' ? unaskable(post.platform, delivery.detail, now) : failure('OUTCOME_UNKNOWN', post.platform, delivery.detail, now)
    return { ...base, ...told, status: 'FAILED', deliveryPhase: 'UNKNOWN' }
  }
  const code = delivery.code === 'ACCESS_EXPIRED' ? 'CONNECTION_EXPIRED' : delivery.code
  return { ...base, ...failure(code, post.platform, delivery.detail, now), status: 'FAILED' }
}

const outcomeOf = { delivered: 'DELIVERED', refused: 'REFUSED', unknown: 'UNKNOWN' } as const

/**
 * Returns the changes of the attempt. For an unknown outcome the network is asked a second later, where it can be
 * asked.
 */
export const settleAttempt = (delivery: Ending, now: Date, lookup: Capabilities['lookup']): Partial<AttemptRow> => ({
  finishedAt: now,
  outcome: outcomeOf[delivery.outcome],
  platformPostId: delivery.outcome === 'delivered' ? delivery.platformPostId : null,
  detail: delivery.outcome === 'delivered' ? null : delivery.detail,
  refusal: delivery.outcome === 'refused' ? delivery.code : (delivery.outcome === 'unknown' && delivery.refusal) || null,
  reconcileAt: delivery.outcome === 'unknown' && lookup !== 'NONE' ? new Date(now.getTime() + 1000) : null,
})

/**
 * Returns an attempt for people: its result, with a code of `failure`. One that was certainly not sent counts as in
 * progress while its post waits.
 */
export function attemptSeen(
  { outcome, refusal }: Pick<AttemptRow, 'outcome' | 'refusal'>,
  { status }: Pick<PostRow, 'status'>,
): { readonly outcome: 'DELIVERED' | 'REFUSED' | 'UNKNOWN' | null; readonly code: FailureCode | null } {
  if (outcome === null || (outcome === 'NOT_SENT' && status === 'SCHEDULED')) return { outcome: null, code: null }
  if (outcome === 'DELIVERED') return { outcome, code: null }
  if (outcome === 'UNKNOWN') return { outcome, code: 'OUTCOME_UNKNOWN' }
  if (outcome === 'NOT_DELIVERED') return { outcome: 'REFUSED', code: outcome }
  if (outcome === 'NOT_SENT') return { outcome: 'REFUSED', code: 'NETWORK_UNAVAILABLE' }
  return { outcome, code: refusal === 'ACCESS_EXPIRED' ? 'CONNECTION_EXPIRED' : refusal }
}

/** Changes of a comment. */
export type CommentEnd = Pick<PostRow, 'firstCommentStatus' | 'firstCommentMessage'> & Partial<Pick<PostRow, 'firstCommentId'>>

/** Returns a comment's changes by the answer to its call. @param isLate whether an unsent one is given up */
export function commentEnd(answered: Delivery, isLate: boolean): CommentEnd {
  if (answered.outcome === 'delivered') return { firstCommentStatus: 'SENT', firstCommentId: answered.platformPostId, firstCommentMessage: null }
  if (answered.outcome === 'unsent' && !isLate) return { firstCommentStatus: 'PENDING', firstCommentMessage: answered.detail }
  return { firstCommentStatus: answered.outcome === 'unknown' ? 'UNKNOWN' : 'FAILED', firstCommentMessage: answered.detail }
}

/** Returns the changes of a post that fails before a call. A claim without an attempt counts as one. */
export const fail = (post: PostRow, code: FailureCode, detail: string, now: Date): Partial<PostRow> => ({
  ...noClaim,
  ...noWait,
  ...failure(code, post.platform, detail, now),
  status: 'FAILED',
  attempts: post.attempts + Number(post.deliveryPhase === 'CLAIMED'),
})

/**
 * Returns the pause in ms before an unsent post is tried again.
 * @param waited number of earlier pauses: three attempts within 20 s, then less often, but at least once a minute
 */
export const tryAgainAfterMs = (waited: number): number => Math.min(5_000 * 2 ** waited, 60_000)

/**
 * Returns the changes of a post whose call could not be made at this moment; null after an hour of attempts. The
 * version stays, because the content does not change.
 */
export function wait(post: Pick<PostRow, 'waitingSince' | 'waits'>, now: Date): (Pick<PostRow, 'waits'> & { waitsUntil: Date; waitingSince: Date }) | null {
  const waitingSince = post.waitingSince ?? now
  if (now.getTime() - waitingSince.getTime() >= timeoutMs) return null
  const again = Math.min(now.getTime() + tryAgainAfterMs(post.waits), waitingSince.getTime() + timeoutMs)
  return { waitsUntil: new Date(again), waitingSince, waits: post.waits + 1 }
}

/** Returns the time from which on earlier attempts may be the original of a "duplicate". */
export const doubtSince = ({ startedAt }: Pick<AttemptRow, 'startedAt'>): Date => new Date(startedAt.getTime() - doubtForMs)

/**
 * Whether a listed post more likely belongs to another attempt with the same text for the same account: one that may
 * still be answered; else the earlier one. Attempts that were rejected as duplicates come last.
 */
export function yieldsTo(mine: Claimant, rival: Claimant, now: Date): boolean {
  if (rival.outcome === null && now.getTime() - rival.startedAt.getTime() < answerableMs) return true
  const place = ({ refusal, startedAt, id }: Claimant) => `${Number(refusal === 'DUPLICATE_CONTENT')} ${startedAt.toISOString()} ${id}`
  return place(rival) < place(mine)
}

/**
 * Returns the ms until the network is asked again about an unknown outcome: soon at first, later every five minutes.
 */
export const askAgainAfterMs = (asked: number): number => Math.min(2_000 * 2 ** asked, 300_000)
