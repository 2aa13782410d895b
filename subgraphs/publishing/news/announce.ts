import { isDeepStrictEqual } from 'node:util'
import { type EventIds, type EventStream, type Events, mapEvents } from '../../../platform/events.ts'
import type { FactBody, NewFact } from '../../store/fact-kinds.ts'
import { widgetTopic } from '../../subgraph.ts'
import { everyNetwork } from '../network/networks.ts'
import type { PostRow } from '../stores/post.ts'
import { eventsOfPost } from './webhook/told.ts'

/** Topics of publishing. An event carries ids; subscribers read the row. */
export const postStatusTopic = (brandId: string): string => `publishing.post-status.${brandId}`

/**
 * Announces, after the commit, that a post was written, changed or deleted: to subscribers of the post, and to the
 * widget that counts it.
 * @param brand the post's brand, which names the organization whose widget it is
 */
export function announcePost(events: Events, brand: { organizationId: string }, post: Followed): void {
  announceStep(events, post)
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

type Followed = Pick<PostRow, 'id' | 'brandId' | 'threadId' | 'version' | 'deliveryPhase' | 'waits'>

/** Announces, after the commit, a step of a post's delivery to its subscribers; counts of the widget stay the same. */
export const announceStep = (events: Events, post: Followed): void => events.announce(postStatusTopic(post.brandId), ...eventOf(post))

/** Returns the event of a post, and a token that identifies it, because some steps of a delivery change no version. */
const eventOf = (post: Followed) => [{ postId: post.id, threadId: post.threadId }, `${post.version} ${post.deliveryPhase} ${post.waits}`] as const

/** Makes subscribers re-read changed posts, because events may be lost between processes. */
export const resyncPosts = (events: Events, changedSince: (brandId: string, since: Date) => Promise<readonly Followed[]>): void =>
  events.resync(postStatusTopic(''), async (brandId, since) =>
    (await changedSince(brandId, since)).map(post => {
      const [ids, mark] = eventOf(post)
      return { ids, mark }
    }),
  )

/**
 * Announces, after the commit, that a brand was archived or restored: its organization's widget omits archived brands.
 */
export function announceBrand(events: Events, brand: { organizationId: string }): void {
  events.announce(widgetTopic('publishing', brand.organizationId), { app: 'publishing' })
}

/**
 * Announces, after the commit, that a brand moved to another organization: its streams end. @param topics every topic
 * with events about the brand
 */
export function announceMoved(events: Events, brandId: string, topics: readonly string[]): void {
  for (const topic of topics) events.announce(topic, { moved: brandId })
}

/**
 * Maps events to the values of a subscription, as `mapEvents` does, and ends the stream when the brand moves to another
 * organization: subscribers there start a new one.
 * @param brandId null for a stream of all brands of an organization, which continues with the other brands
 */
export const eventsOfBrand = <Value>(source: EventStream, brandId: string | null, map: (ids: EventIds) => Value | undefined): AsyncIterableIterator<Value> =>
  mapEvents(source, ids => {
    if (!ids.moved) return map(ids)
    if (ids.moved === brandId) void source.return()
    return undefined
  })

/** Maximum length of a title derived from a text, in characters. */
const titleLength = 80

/** Returns a title for a post: the beginning of its first line. */
export function titleOf(copy: string): string {
  const line = copy.split('\n', 1)[0]!.trim()
  // A character has at most two UTF-16 units, so only the beginning of a long line is examined.
  const characters = [...line.slice(0, 2 * titleLength + 2)]
  return characters.length <= titleLength ? line || 'Untitled post' : `${characters.slice(0, titleLength - 1).join('')}…`
}

/** Returns a post's own title, or the beginning of its text where it has none. */
export const titleOfPost = ({ title, copy }: { readonly title: string | null; readonly copy: string }): string => titleOf(title?.trim() || copy)

/** Maximum length of a failure's reason in facts, in characters. */
const reasonLength = 1_000

/** The organization and the platform's origin, for facts about a post. */
export interface Place {
  /** The organization that its brand belongs to. */
  readonly organizationId: string
  /** Origin of the platform. */
  readonly publicUrl: string
}

/** The action item of a post in its present state; null for none. */
function attentionOf(post: PostRow | null, { organizationId, publicUrl }: Place): FactBody<'attention.opened'> | null {
  if (post?.status !== 'FAILED') return null
  const { title } = everyNetwork[post.platform]
  const isUnknown = post.deliveryPhase === 'UNKNOWN'
  return {
    key: attentionKey(post),
    kind: isUnknown ? 'OUTCOME_UNKNOWN' : 'POST_FAILED',
    organizationId,
    subjectId: post.id,
    title: isUnknown ? `Did ${title} publish “${titleOfPost(post)}”?` : `Post for ${title} failed: “${titleOfPost(post)}”`,
    url: `${publicUrl}/publishing/posts/${post.id}`,
    at: (post.failedAt ?? post.updatedAt).toISOString(),
    audience: 'organization',
    ...(post.failureMessage && { body: [...post.failureMessage].slice(0, reasonLength).join('') }),
  }
}

/**
 * Returns the fact that a post waits for approval; null when it does not. The waiting time starts when it was written
 * or submitted: an edit does not request approval again.
 */
function approvalOf(post: PostRow | null, { organizationId, publicUrl }: Place): FactBody<'attention.opened'> | null {
  if (post?.approval !== 'PENDING' || post.status === 'PUBLISHED') return null
  return {
    key: `approval:${post.id}`,
    kind: 'APPROVAL_PENDING',
    organizationId,
    subjectId: post.id,
    title: `Post for ${everyNetwork[post.platform].title} waits for approval: “${titleOfPost(post)}”`,
    url: `${publicUrl}/publishing/posts/${post.id}`,
    at: post.createdAt.toISOString(),
    audience: 'organization',
  }
}

/**
 * Facts for the launcher about a post whose brand moves: items of the former organization are closed and opened in the new one.
 */
export function factsOfMove(post: PostRow, from: Place, to: Place): readonly NewFact[] {
  return [attentionOf, approvalOf].flatMap((waiting): readonly NewFact[] => {
    const [was, is] = [waiting(post, from), waiting(post, to)]
    return [...(was ? [{ kind: 'attention.closed' as const, body: { key: was.key } }] : []), ...(is ? [{ kind: 'attention.opened' as const, body: is }] : [])]
  })
}

const attentionKey = ({ id }: Pick<PostRow, 'id'>): string => `post:${id}`

/**
 * Returns the facts for other services about a change of a post: that it needs action or no longer does, was published,
 * or failed.
 * @param before null for a new post
 * @param after  null for a deleted post
 */
export function factsOf(before: PostRow | null, after: PostRow | null, place: Place): readonly NewFact[] {
  const told: NewFact[] = []
  for (const waiting of [attentionOf, approvalOf]) {
    const [was, is] = [waiting(before, place), waiting(after, place)]
    if (is && !isDeepStrictEqual(was, is)) told.push({ kind: 'attention.opened', body: is })
    if (was && !is) told.push({ kind: 'attention.closed', body: { key: was.key } })
  }
  told.push(...eventsOfPost(before, after))
  if (!after || before?.status === after.status) return told
  const { id: postId, brandId, threadId, platform, failureCode: code } = after
  const body = { postId, brandId, organizationId: place.organizationId, threadId, platform, code }
  if (after.status === 'PUBLISHED') told.push({ kind: 'post.published', body })
  if (after.status === 'FAILED') told.push({ kind: 'post.failed', body })
  return told
}
