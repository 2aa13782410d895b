import { newId, requireId } from '../../../../platform/ids.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { notFound } from '../../../store/store.ts'
import { checkVersion, create, write } from '../../../store/write.ts'
import { actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { noClaim } from '../../delivery/rules.ts'
import { wakeUp } from '../../delivery/wake-up.ts'
import { announcePost } from '../../news/announce.ts'
import type { CreatePostThreadInput, ReorderPostThreadInput } from '../../resolvers.generated.ts'
import type { ApprovalMode } from '../../stores/brand.ts'
import type { PostRow } from '../../stores/post.ts'
import type { PostThreadRow } from '../../stores/posts/thread.ts'
import { most, readLine, written } from '../content.ts'
import { requireAllPublishable, surroundingsOf } from '../problems.ts'
import { checkMoment } from '../rules.ts'
import { addPost, requireRoom, rowOf } from '../write.ts'
import { reordered, requireLength } from './rules.ts'

/** Creates the posts of a thread, all or none; once for each idempotency key. */
export async function createThread(context: Context, input: CreatePostThreadInput): Promise<PostThreadRow> {
  const { brands, threads, events, clock, viewer } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const { platform, scheduledAt = null } = input
  const title = readLine(input.title ?? null, 'title', most.title)
  requireLength(input.posts.length)
  if (scheduledAt) checkMoment(scheduledAt, clock.now())
  const contents = input.posts.map(({ copy, media }) => written({ copy, media }, platform, null))
  const media = contents.flatMap(content => content.media)
  const surroundings = await surroundingsOf(context, { brandId: brand.id, media, platforms: scheduledAt ? [platform] : [] })
  const looked = contents.map((content, at) => ({ post: { ...content, brandId: brand.id, platform, position: at + 1 }, mark: { position: at + 1 } }))
  const made: PostRow[] = []
  let mode: ApprovalMode = brand.approvalMode
  const { row } = await create(context, {
    of: threads,
    once: input,
    tenantId: brand.organizationId,
    async run(unit, id) {
      mode = await brands.requireInUse(brand.id, unit.transaction)
      await requireRoom(context, contents.length, unit)
      if (scheduledAt) requireAllPublishable(looked, surroundings)
      const drafts = contents.map((content, place) => ({ platform, content, scheduledAt, surroundings, threadId: id, position: place + 1 }))
      for (const draft of drafts) made.push(await addPost(context, rowOf(context, brand, mode, draft, unit, draft.position === 1 ? id : newId(unit.now)), unit))
      return { brandId: brand.id, id, title, createdAt: unit.now, updatedAt: unit.now, createdBy: actorOf(viewer) }
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'thread.created', subjectId: id, details: { posts: made.length } }),
    announce() {
      for (const post of made) announcePost(events, brand, post)
    },
  })
  return row
}

/** Reorders the posts of a thread. Posts that are published or being sent keep their positions. */
export async function reorderThread(context: Context, { id: given, postIds, expectedVersion }: ReorderPostThreadInput): Promise<PostThreadRow> {
  const { brands, threads, events } = context
  const ids = postIds.map(postId => requireId(postId, 'postIds'))
  const { id, brandId, createdAt, createdBy } = await threadOf(context, given)
  const brand = await brands.require(brandId)
  const { thread } = await write(context, {
    async run(unit) {
      const { now, transaction } = unit
      await brands.requireInUse(brandId, transaction)
      await threads.know(brandId, id, createdAt, createdBy, transaction)
      const held = await threads.lock(id, transaction)
      if (!held) throw notFound('thread', id)
      checkVersion(held.version, expectedVersion, 'thread')
      const moved = await movePosts(context, held, ids, unit)
      if (moved.length === 0) return { thread: held, moved }
      return { thread: await threads.update(held, { version: held.version + 1, updatedAt: now }, transaction), moved }
    },
    audit: ({ thread: { version }, moved }) =>
      moved.length > 0 ? { tenantId: brandId, action: 'thread.reordered', subjectId: id, details: { version } } : null,
    announce({ moved }) {
      for (const post of moved) announcePost(events, brand, post)
    },
  })
  return thread
}

/** @returns the posts whose position has changed */
async function movePosts(
  { posts, threads, jobs }: Context,
  { brandId, id }: PostThreadRow,
  ids: readonly string[],
  { now, transaction }: WriteTransaction,
): Promise<PostRow[]> {
  const present = await threads.lockPosts(brandId, id, transaction)
  const places = present.map(({ position }) => position)
  const changed = reordered(present, ids).flatMap((post, at) => (post.position === places[at] ? [] : [{ post, position: places[at]! }]))
  // Moves the posts to temporary positions first, because positions are unique at every moment.
  for (const { post } of changed) await threads.putAt(post, post.position + outOfTheWay, transaction)
  const moved: PostRow[] = []
  for (const { post, position } of changed)
    moved.push(await posts.update(post, { ...noClaim, heldBack: false, position, version: post.version + 1, updatedAt: now }, transaction))
  // Posts that waited for another post are checked again.
  for (const post of moved) if (post.status === 'SCHEDULED' && post.scheduledAt) await wakeUp(jobs, post, post.scheduledAt, transaction)
  return moved
}

const outOfTheWay = 1_000_000

/**
 * Returns a thread: the stored one, or one built from its only post.
 * @throws NOT_FOUND
 */
export async function threadOf(context: Context, given: string): Promise<PostThreadRow> {
  const id = requireId(given, 'id')
  const [known, head] = await Promise.all([context.threads.byId.load(id), context.posts.byId.load(id)])
  const found = known ?? (head && head.threadId === id ? ofPost(head) : null)
  if (found) return found
  throw notFound('thread', id)
}

/** Builds a thread from a post alone. */
export const ofPost = ({ brandId, threadId: id, createdAt, createdBy }: PostRow): PostThreadRow => ({
  brandId,
  id,
  title: null,
  version: 1,
  createdAt,
  updatedAt: createdAt,
  createdBy,
})
