import { createHash } from 'node:crypto'
import { BaseError } from 'sequelize'
import { crash } from '../../../platform/crash.ts'
import { keepGone } from '../connection/gone.ts'
import { isJustRenewed, mustRenew } from '../connection/rules.ts'
import { tokenSoon, usableToken } from '../connection/tokens.ts'
import type { Job } from '../context.ts'
import { mediaOf } from '../media/deliverable.ts'
import { organizationOf } from '../network/account/organization.ts'
import { GrantFailure, type Network } from '../network/network.ts'
import { everyNetwork } from '../network/networks.ts'
import type { Handle, Medium, Preparation, Publication, Target } from '../network/publication.ts'
import type { ConnectionRow } from '../stores/connection.ts'
import type { PostRow } from '../stores/post.ts'
import { held } from './claimed.ts'
import type { FailureCode } from './failure.ts'
import { inOneLine, isKeepable } from './heard.ts'
import { claimMs, processingForMs, repliesTo, shutUntil, wayOf } from './rules.ts'

/** Everything that a call needs and that may fail before anything is sent. */
export interface Prepared {
  readonly network: Network
  readonly connection: ConnectionRow
  readonly accessToken: string
  /** Place within the account. */
  readonly target: Target | null
  readonly media: readonly Medium[]
  readonly inReplyTo: string | null
  /** Uploads left at the network; null when it needs none. */
  readonly handle: Handle | null
}

/** Why a post is not sent now. */
export type Unprepared =
  /** A token is being renewed. */
  | { readonly renewal: Promise<string> }
  /** The post could not be prepared at this moment, or its place is not known. */
  | { readonly waits: string }
  /** The network takes nothing of the account before. */
  | { readonly shutUntil: Date }
  /** The network is processing media. */
  | { readonly processing: NonNullable<PostRow['prepared']>; readonly againInMs: number }
  | { readonly failed: FailureCode; readonly detail: string }

/**
 * Finds the connection, the place, a valid token and the media, and uploads to the network what it needs beforehand.
 */
export async function prepare(job: Job, post: PostRow): Promise<Prepared | Unprepared> {
  const { clock, connections } = job
  const network = job.networks.get(post.platform)
  const way = wayOf(await connections.manyBy('brandId').load(post.brandId), post)
  if (!network) return { failed: 'NO_CONNECTION', detail: '' }
  if ('failed' in way) return way
  const { connection, target } = way
  const until = shutUntil(connection.rateLimit, clock.now())
  if (until) return { shutUntil: until }
  // Tokens that live no longer than the renewal margin are not renewed again and again.
  if (mustRenew(connection.tokenExpiresAt, clock.now()) && !isJustRenewed(connection, clock.now())) return { renewal: usableToken(job, network, connection) }
  let accessToken: string
  try {
    accessToken = connections.open(connection).accessToken
  } catch (error) {
    if (!(error instanceof GrantFailure)) throw error
    // Reports the missing key to operators, who must restore it; nobody needs to reconnect the account.
    await job.keys.check().catch(() => {})
    return { waits: error.message }
  }
  const inReplyTo = await answered(job, post, target)
  if (post.media.length === 0 && !network.prepare) return { network, connection, accessToken, target, media: [], inReplyTo, handle: null }
  return held(job, post, claimMs, async () => {
    const found = post.media.length > 0 ? await mediaOf(job, post, post.platform).catch(error => waiting(job, post, error)) : { media: [] }
    if ('waits' in found) return found
    if ('failed' in found) return { failed: 'MEDIA_FAILED', detail: found.failed }
    const prepared = { network, connection, accessToken, target, media: found.media, inReplyTo, handle: null }
    return network.prepare ? leaveThere(job, post, prepared) : prepared
  })
}

/**
 * Postpones a post that could not be prepared because of a full disk, an unavailable storage or an unexpected answer.
 * @throws the database's errors: nothing could be stored, and the claim expires by itself
 */
const waiting = ({ log }: Job, post: PostRow, error: unknown) => {
  if (error instanceof BaseError) throw error
  log.error({ err: error, postId: post.id }, 'post could not be prepared; it will be retried')
  return { waits: 'what it needs could not be made ready here' }
}

/** Returns the network's id of the earlier post in the thread that this one answers, or comments on. */
async function answered({ posts, attempts }: Job, post: PostRow, mine: Target | null): Promise<string | null> {
  if (post.position === 1) return null
  const predecessor = await posts.predecessorOf.load(post.id)
  const isComment = predecessor && everyNetwork[post.platform].capabilities.thread === 'COMMENT'
  const earlier = isComment ? ((await attempts.lastAttempt(predecessor))?.target ?? null) : null
  return repliesTo(post, predecessor, { mine, earlier })
}

/** Returns the access token of a place, where its network issued one. */
export function placeTokenOf({ connections }: Pick<Job, 'connections'>, connection: ConnectionRow, target: Target | null): string | null {
  if (!target) return null
  return connections.open(connection).placeTokens[`${target.kind}:${target.externalId}`] ?? null
}

/**
 * Returns a fingerprint of the prepared content: it covers everything that an edit can change, so that prepared media
 * are not used for other content.
 */
function fingerprint({ connection, target, inReplyTo }: Prepared, { copy, title, link, visibility, tags, media }: PostRow): string {
  const content = JSON.stringify([connection.externalAccountId, target?.kind, target?.externalId, inReplyTo, copy, title, link, visibility, tags, media])
  return createHash('sha256').update(content).digest('base64url')
}

/**
 * Number of retries when a network could not fetch a medium: after 5, 10 and 20 s, because this service may be
 * restarting.
 */
const fetches = 3

/** Starts the network's preparation of the media. A rejected token is renewed once. */
async function leaveThere(job: Job, post: PostRow, prepared: Prepared): Promise<Prepared | Unprepared> {
  const { network, connection, accessToken } = prepared
  const of = fingerprint(prepared, post)
  const kept = post.prepared?.of === of ? post.prepared : null
  const organizationId = await organizationOf(job, post.brandId, post.platform)
  const preparation = (token: string): Promise<Preparation> =>
    network.prepare!(
      { ...contentOf(post, prepared), organizationId, placeToken: placeTokenOf(job, connection, prepared.target), accessToken: token },
      kept?.handle ?? null,
    ).catch(error => {
      // The network's answer has a form that its documentation does not mention.
      if (!(error instanceof TypeError)) throw error
      return { outcome: 'unsent', detail: waiting(job, post, error).waits }
    })
  let token = accessToken
  let end = await preparation(token)
  if (end.outcome === 'refused' && end.code === 'ACCESS_EXPIRED') {
    try {
      token = await tokenSoon(job, network, connection, accessToken)
    } catch (error) {
      if (!(error instanceof GrantFailure)) throw error
      return error.permanent ? { failed: 'CONNECTION_EXPIRED', detail: error.message } : { waits: error.message }
    }
    end = await preparation(token)
  }
  crash('after-prepare')
  const since = kept?.since ?? job.clock.now().toISOString()
  if ('handle' in end && !isKeepable(end.handle)) return { waits: 'the network answered with what cannot be kept' }
  if (end.outcome === 'ready') return { ...prepared, accessToken: token, handle: end.handle }
  if (end.outcome === 'unsent') return { waits: inOneLine(end.detail) }
  if (end.outcome === 'processing') {
    if (job.clock.now().getTime() - Date.parse(since) >= processingForMs)
      return { failed: 'MEDIA_FAILED', detail: 'it was still being processed after half an hour' }
    return { processing: { of, since, handle: end.handle }, againInMs: end.againInMs }
  }
  if (end.outcome === 'limited') {
    const until = new Date(job.clock.now().getTime() + end.forMs)
    await job.connections.keepLimit(connection, { limit: end.limit, remaining: 0, resetsAt: until }, job.clock.now())
    return { shutUntil: until }
  }
  if (end.mayPass && post.waits < fetches) return { waits: inOneLine(end.detail) }
  if (end.limit) await job.connections.keepLimit(connection, end.limit, job.clock.now())
  if (end.code === 'TARGET_UNAVAILABLE' && prepared.inReplyTo === null) await keepGone(job, connection, prepared.target, inOneLine(end.detail))
  return { failed: end.code === 'ACCESS_EXPIRED' ? 'CONNECTION_EXPIRED' : end.code, detail: inOneLine(end.detail) }
}

/** Returns the content of a post in the form for its network. */
const contentOf = (
  { copy, title, link, visibility, tags }: PostRow,
  { connection, target, media, inReplyTo }: Prepared,
): Omit<Publication, 'accessToken' | 'organizationId' | 'placeToken' | 'handle'> => ({
  account: { externalId: connection.externalAccountId, name: connection.accountName },
  copy,
  title,
  link,
  visibility,
  tags,
  target,
  media,
  inReplyTo,
})
