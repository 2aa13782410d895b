import { placeOf } from '../connection/places.ts'
import { type Candidate, chooseConnection } from '../connection/rules.ts'
import type { Capabilities, Delivery, Network, Target } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { AttemptRow, Claimant } from '../stores/attempt.ts'
import type { KeptRateLimit } from '../stores/connection.ts'
import { farthestClaimMs, farthestPauseMs, farthestWaitMs, hasCome } from '../stores/pace.ts'
import type { PostRow } from '../stores/post.ts'
import { type FailureCode, failure, unaskable } from './failure.ts'

/** How long a worker may prepare a call before another takes over, in ms: one waits 8 s at most for a token. Who takes over while a slow renewal is under way waits for the same one. */
export const claimMs = 12_000
/** How late after the attempt was recorded the call may still begin, in ms: later, another worker might already ask the network. */
export const beginWithinMs = 3_000
/** How long a network that does not list a post must be asked before its absence is believed, in ms. */
export const absentAfterMs = 120_000
/** Past this age an unknown outcome waits for a person only, in ms. */
export const reconcileForMs = 24 * 3600_000
/** How long a network may remember a text and refuse it as a duplicate, in ms: attempts of that age may be what it means. */
export const doubtForMs = 7 * 24 * 3600_000
/** How long a network that cannot be reached is tried, or asked about an interrupted call, in ms. */
export const patienceMs = 3600_000
/** How long a network may work on what a post needs, such as a film, in ms. */
export const processingForMs = 1800_000
/** How often a claim is prolonged while its worker prepares, or waits for the network's answer, in ms. */
export const prolongEveryMs = 4_000
/** How long an attempt without an outcome may still be answered, in ms: a call, a renewal and the call again take less. */
export const answerableMs = 60_000

export const noFailure = { failureCode: null, failureMessage: null, failedAt: null } as const
export const noClaim = { deliveryPhase: 'NONE', claimId: null, claimUntil: null } as const
export const noWait = { waitsUntil: null, waitingSince: null, waits: 0, prepared: null, prepareAt: null } as const

/** Whether it is too late to make the call of an attempt. */
export const isLate = (attempt: { startedAt: Date }, now: Date): boolean => now.getTime() - attempt.startedAt.getTime() > beginWithinMs

/** Whether a post may be taken for delivery, as it stands at this moment. */
export function isDue(post: PostRow, predecessor: PostRow | null, now: Date): boolean {
  const at = dueAt(post, now)
  return at !== null && at <= now && (post.approval === 'NONE' || post.approval === 'APPROVED') && !post.held && !isHeldBy(predecessor)
}

/**
 * When a scheduled post is to be sent if nothing else holds it: at its time, when it is tried again, or when the network is asked
 * again what it prepares; null for one that is not to be sent.
 */
export function dueAt({ status, scheduledAt, waitsUntil, prepareAt }: PostRow, now: Date): Date | null {
  if (status !== 'SCHEDULED' || !scheduledAt) return null
  const later = [hasCome(waitsUntil, now, farthestWaitMs) ? null : waitsUntil, hasCome(prepareAt, now, farthestPauseMs) ? null : prepareAt]
  return later.reduce<Date>((latest, at) => (at && at > latest ? at : latest), scheduledAt)
}

/** Whether the earlier post of a thread holds back the later one: until it is published and the network named it. */
export const isHeldBy = (predecessor: PostRow | null): boolean => predecessor !== null && !(predecessor.status === 'PUBLISHED' && predecessor.platformPostId)

/** By which connection a post goes out, and to which place within its account; or why there is none. */
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
 * What a post answers on the network, or comments: the earlier post of its thread, when that is on the same network, and for a comment
 * at the same place; null where later posts stand by themselves.
 * @param places where this one goes, and where the earlier one went
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

/** How it is found out whether a network has a post for this place. */
export const lookupOf = (network: Network, target: Target | null): Capabilities['lookup'] =>
  network.lookupOf?.(target) ?? everyNetwork[network.platform].capabilities.lookup

/** Until when a network takes nothing of an account, as far as it said; null when it takes posts. */
export function shutUntil(limit: KeptRateLimit | null, now: Date): Date | null {
  if (!limit?.resetsAt || limit.remaining > 0) return null
  const until = new Date(limit.resetsAt)
  return until > now ? until : null
}

/** How a post waits for a limit that is known to be reached; null when that takes more than an hour. */
export function waitForLimit(post: Pick<PostRow, 'waitingSince' | 'waits'>, until: Date, now: Date): ReturnType<typeof wait> {
  const waitingSince = post.waitingSince ?? now
  if (until.getTime() - waitingSince.getTime() > patienceMs) return null
  return { waitsUntil: until, waitingSince, waits: post.waits + 1 }
}

/** Whether nobody holds the post: never claimed, or by a worker whose time is over. */
export const isFree = ({ claimUntil }: Pick<PostRow, 'claimUntil'>, now: Date): boolean => hasCome(claimUntil, now, farthestClaimMs)

/** What ends an attempt: everything but a call that was not made, after which the post waits. */
export type Ending = Exclude<Delivery, { outcome: 'unsent' }>

/** What a post becomes by the end of its attempt. */
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

/** What the attempt becomes by it. An unknown outcome is asked about a second later, where the network can be asked. */
export const settleAttempt = (delivery: Ending, now: Date, lookup: Capabilities['lookup']): Partial<AttemptRow> => ({
  finishedAt: now,
  outcome: outcomeOf[delivery.outcome],
  platformPostId: delivery.outcome === 'delivered' ? delivery.platformPostId : null,
  detail: delivery.outcome === 'delivered' ? null : delivery.detail,
  refusal: delivery.outcome === 'refused' ? delivery.code : (delivery.outcome === 'unknown' && delivery.refusal) || null,
  reconcileAt: delivery.outcome === 'unknown' && lookup !== 'NONE' ? new Date(now.getTime() + 1000) : null,
})

/** An attempt as people see it: how it ended, and with which code of `failure`. One that surely was not sent is under way while its post waits. */
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

/** What a comment becomes. */
export type CommentEnd = Pick<PostRow, 'firstCommentStatus' | 'firstCommentMessage'> & Partial<Pick<PostRow, 'firstCommentId'>>

/** What a comment becomes by the answer to its call. @param isLate whether one that was not sent is given up */
export function commentEnd(answered: Delivery, isLate: boolean): CommentEnd {
  if (answered.outcome === 'delivered') return { firstCommentStatus: 'SENT', firstCommentId: answered.platformPostId, firstCommentMessage: null }
  if (answered.outcome === 'unsent' && !isLate) return { firstCommentStatus: 'PENDING', firstCommentMessage: answered.detail }
  return { firstCommentStatus: answered.outcome === 'unknown' ? 'UNKNOWN' : 'FAILED', firstCommentMessage: answered.detail }
}

/** What a post becomes that is given up before a call was made. A claim that began no attempt counts as one. */
export const fail = (post: PostRow, code: FailureCode, detail: string, now: Date): Partial<PostRow> => ({
  ...noClaim,
  ...noWait,
  ...failure(code, post.platform, detail, now),
  status: 'FAILED',
  attempts: post.attempts + Number(post.deliveryPhase === 'CLAIMED'),
})

/**
 * How long a post that surely was not sent waits before it is tried again, in ms.
 * @param waited how often it has waited already: three tries within 20 s, then ever less often, at least once a minute
 */
export const tryAgainAfterMs = (waited: number): number => Math.min(5_000 * 2 ** waited, 60_000)

/**
 * How a post waits whose call could not be made at this moment; null when the network has been tried for an hour.
 * What it changes is no news of the text, so the version stays.
 */
export function wait(post: Pick<PostRow, 'waitingSince' | 'waits'>, now: Date): (Pick<PostRow, 'waits'> & { waitsUntil: Date; waitingSince: Date }) | null {
  const waitingSince = post.waitingSince ?? now
  if (now.getTime() - waitingSince.getTime() >= patienceMs) return null
  const again = Math.min(now.getTime() + tryAgainAfterMs(post.waits), waitingSince.getTime() + patienceMs)
  return { waitsUntil: new Date(again), waitingSince, waits: post.waits + 1 }
}

/** From when on attempts may be what a network means that calls this one a duplicate. */
export const doubtSince = ({ startedAt }: Pick<AttemptRow, 'startedAt'>): Date => new Date(startedAt.getTime() - doubtForMs)

/**
 * Whether a post that the network lists may rather be another attempt's, with the same text for the same account: one that may
 * still be answered, by which it will be known; else the earlier one, and what was refused as a duplicate comes last.
 */
export function yieldsTo(mine: Claimant, rival: Claimant, now: Date): boolean {
  if (rival.outcome === null && now.getTime() - rival.startedAt.getTime() < answerableMs) return true
  const place = ({ refusal, startedAt, id }: Claimant) => `${Number(refusal === 'DUPLICATE_CONTENT')} ${startedAt.toISOString()} ${id}`
  return place(rival) < place(mine)
}

/** When to ask the network again about an unknown outcome, in ms after the last time: sooner at first, at most every five minutes. */
export const askAgainAfterMs = (asked: number): number => Math.min(2_000 * 2 ** asked, 300_000)
