import { Refusal } from '../../../platform/errors.ts'
import { mapEvents } from '../../../platform/events.ts'
import { readIdempotency } from '../../../platform/idempotency.ts'
import { newId, requireId } from '../../../platform/ids.ts'
import { requireRoom } from '../../../platform/limit.ts'
import { readPage } from '../../../platform/page.ts'
import { announcePost, postStatusTopic } from '../announce.ts'
import { actorOf } from '../audit.ts'
import { activeOrganization, canSee, owned } from '../brand/rules.ts'
import { chooseConnection } from '../connection/rules.ts'
import type { Context } from '../context.ts'
import { isHeldBy } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import type { CreatePostInput, PostTargetInput, Resolvers } from '../resolvers.generated.ts'
import { change, edit, ownedPost } from './change.ts'
import { checkCopy, checkMoment, checkSchedule, checkTarget, checkVersion, move } from './rules.ts'
import { type NewPost, newestFirst, type PostFilter, threadOrder } from './store.ts'
import type { PostTarget } from './table.ts'

/** A target as it is stored; undefined stays undefined, for an edit that does not mention it changes nothing. */
const toTarget = (input: PostTargetInput | null | undefined): PostTarget | null | undefined =>
  input && { kind: input.kind, externalId: input.externalId, name: input.name ?? null }

const maybeId = (value: string | null | undefined, field: string): string | null => (value === null || value === undefined ? null : requireId(value, field))

/** A new post as it will be written: everything checked that concerns the input alone. */
function draft(input: CreatePostInput, context: Context, brandId: string): NewPost {
  const { clock, viewer } = context
  const now = clock.now()
  const copy = checkCopy(input.copy)
  const { platform, scheduledAt = null } = input
  if (scheduledAt) checkMoment(scheduledAt, now)
  return {
    id: newId(now),
    brandId,
    threadId: maybeId(input.threadId, 'threadId'),
    platform,
    copy,
    target: checkTarget(toTarget(input.target) ?? null, platform),
    status: scheduledAt ? 'SCHEDULED' : 'DRAFT',
    scheduledAt,
    authorId: viewer.userId,
    createdAt: now,
    createdBy: actorOf(viewer),
    idempotency: readIdempotency(input),
  }
}

export const postResolvers: Resolvers = {
  Query: {
    post: async (_, { id }, context) => (await ownedPost(context, requireId(id, 'id'))).post,
    posts: async (_, args, context) => {
      const filter: PostFilter = {
        organizationId: activeOrganization(context.viewer, 'Posts'),
        brandId: maybeId(args.brandId, 'brandId'),
        threadId: maybeId(args.threadId, 'threadId'),
        status: args.status ?? null,
        platform: args.platform ?? null,
        authorId: args.authorId ?? null,
        scheduledAfter: args.scheduledAfter ?? null,
        scheduledBefore: args.scheduledBefore ?? null,
      }
      const request = readPage(args, filter.threadId ? threadOrder : newestFirst)
      const page = await context.postPages.load(filter, request)
      for (const post of page.nodes) context.postById.prime(post.id, post)
      return page
    },
  },

  Mutation: {
    createPost: async (_, { input }, context) => {
      const brandId = requireId(input.brandId, 'brandId')
      const brand = owned(context.viewer, await context.brandById.load(brandId), brandId)
      const post = draft(input, context, brand.id)
      const { sequelize, brands, posts, audit, jobs, events, networks, quotas } = context
      const { row, repeated } = await sequelize.transaction(async transaction => {
        const created = await posts.create(post, transaction)
        if (created.repeated) return created
        await brands.requireInUse(brandId, transaction)
        const made = await posts.madeBy(post, quotas.postsADay, transaction)
        requireRoom(made, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.postsADay }, 'posts that you wrote', 'wait', post.createdAt)
        // Only now: a repetition that comes after its time is still answered with the first post.
        if (post.scheduledAt) checkSchedule(post.scheduledAt, post.createdAt, post.copy, post.platform, networks.get(post.platform))
        await audit(transaction, { brandId, actor: post.createdBy, action: 'post.created', subjectId: post.id, at: post.createdAt })
        if (post.scheduledAt) await wakeUp(jobs, post, post.scheduledAt, transaction)
        return created
      })
      if (!repeated) announcePost(events, brand, row)
      return row
    },
    updatePost: (_, { input }, context) => {
      const { id, copy, scheduledAt, target, expectedVersion } = input
      const wanted = { copy, scheduledAt, target: toTarget(target), expectedVersion }
      return change(context, requireId(id, 'id'), (post, now) => edit(post, wanted, now, context.networks))
    },
    reschedulePost: (_, { input }, context) =>
      change(context, requireId(input.id, 'id'), (post, now) =>
        edit(post, { scheduledAt: input.scheduledAt, expectedVersion: input.expectedVersion }, now, context.networks),
      ),
    deletePost: async (_, { input }, context) => {
      const id = requireId(input.id, 'id')
      const { brand } = await ownedPost(context, id)
      const { sequelize, brands, posts, audit, clock, jobs, viewer, events } = context
      const deleted = await sequelize.transaction(async transaction => {
        await brands.requireInUse(brand.id, transaction)
        const post = await posts.lock(brand.id, id, transaction)
        if (!post) throw new Refusal('NOT_FOUND', `The active organization has no post ${id}.`, { id })
        checkVersion(post.version, input.expectedVersion)
        move(post, 'delete')
        await posts.remove(post, transaction)
        if (post.status === 'SCHEDULED') await letSleep(jobs, post, transaction)
        await posts.release(await posts.successor(post, transaction), transaction)
        await audit(transaction, {
          brandId: brand.id,
          actor: actorOf(viewer),
          action: 'post.deleted',
          subjectId: id,
          at: clock.now(),
          details: { status: post.status },
        })
        return post
      })
      announcePost(events, brand, deleted)
      return deleted
    },
  },

  Subscription: {
    postStatusChanged: {
      subscribe: async (_, args, context) => {
        const brandId = requireId(args.brandId, 'brandId')
        owned(context.viewer, await context.brandById.load(brandId), brandId)
        const threadId = maybeId(args.threadId, 'threadId')
        return mapEvents(context.events.listen([postStatusTopic(brandId)]), event =>
          threadId === null || event.threadId === threadId ? { postId: event.postId! } : undefined,
        )
      },
      // Read at each event, with the viewer's right to the brand as it is then.
      resolve: async ({ postId }: { postId: string }, _: unknown, context: Context) => {
        const post = await context.postById.load(postId)
        const brand = post && (await context.brandById.load(post.brandId))
        return canSee(context.viewer, brand ?? null) ? post : null
      },
    },
  },

  PostConnection: { totalCount: page => page.totalCount() },
  Post: {
    __resolveReference: async ({ id }, context) => {
      const post = await context.postById.load(id)
      const brand = post && (await context.brandById.load(post.brandId))
      return canSee(context.viewer, brand ?? null) ? post : null
    },
    failure: ({ failureCode, failureMessage, failedAt, attempts }) =>
      failureCode && failureMessage && failedAt ? { code: failureCode, message: failureMessage, failedAt, attempts } : null,
    waitsFor: async (post, _, context) => {
      if (post.status !== 'SCHEDULED' || post.position === 1) return null
      const predecessor = await context.predecessorOf.load(post.id)
      return isHeldBy(predecessor) ? predecessor : null
    },
    brand: (post, _, context) => context.brandById.load(post.brandId),
    author: ({ authorId }) => (authorId ? { __typename: 'User', id: authorId } : null),
    connection: async (post, _, context) => {
      if (post.connectionId && post.status === 'PUBLISHED') return context.connectionById.load(post.connectionId)
      return chooseConnection(await context.connectionsByBrand.load(post.brandId), post.platform, post.authorId)
    },
  },
}
