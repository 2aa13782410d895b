import { readId } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { readPage } from '../../../platform/page.ts'
import { create, remove } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import { chooseConnection } from '../connection/rules.ts'
import type { Context } from '../context.ts'
import { isHeldBy } from '../delivery/rules.ts'
import { letSleep, wakeUp } from '../delivery/wake-up.ts'
import type { Target } from '../network/network.ts'
import { announcePost, eventsOfBrand, factsOf, postStatusTopic } from '../news/announce.ts'
import type { CreatePostInput, DeletePostInput, PostTargetInput, Resolvers } from '../resolvers.generated.ts'
import { newestFirst, type PostFilter, type PostRow, threadOrder } from '../stores/post.ts'
import { changePost } from './change.ts'
import { checkCopy, checkMoment, checkSchedule, checkTarget, move } from './rules.ts'

/** A target as it is stored; undefined stays undefined, for an edit that does not mention it changes nothing. */
const toTarget = (input: PostTargetInput | null | undefined): Target | null | undefined =>
  input && { kind: input.kind, externalId: input.externalId, name: input.name ?? null }

/** Writes a new post, checked as far as the input alone tells; once for each key. */
async function createPost(context: Context, input: CreatePostInput): Promise<PostRow> {
  const { brands, posts, clock, events, jobs, networks, quotas, viewer } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const { platform, scheduledAt = null } = input
  const copy = checkCopy(input.copy)
  if (scheduledAt) checkMoment(scheduledAt, clock.now())
  const threadId = readId(input.threadId, 'threadId')
  const target = checkTarget(toTarget(input.target) ?? null, platform)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: posts,
    once: input,
    tenantId: brand.organizationId,
    async run({ transaction, now }, id) {
      const position = threadId ? await posts.placeIn(brand.id, threadId, transaction) : 1
      await brands.requireInUse(brand.id, transaction)
      const made = await posts.madeBy(createdBy, now, quotas.postsADay, transaction)
      requireQuota(made, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.postsADay }, 'posts that you wrote', 'wait', now)
      // Only now: a repetition that comes after its time is still answered with the first post.
      if (scheduledAt) checkSchedule(scheduledAt, now, copy, platform, networks.get(platform))
      const status = scheduledAt ? ('SCHEDULED' as const) : ('DRAFT' as const)
      const place = { brandId: brand.id, threadId: threadId ?? id, position, platform }
      return { id, ...place, copy, target, status, scheduledAt, authorId: viewer.userId, createdAt: now, updatedAt: now, createdBy }
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'post.created', subjectId: id }),
    wake: async (post, { transaction }) => (post.scheduledAt ? wakeUp(jobs, post, post.scheduledAt, transaction) : undefined),
    announce: post => announcePost(events, brand, post),
  })
  return row
}

async function deletePost(context: Context, { id, expectedVersion }: DeletePostInput): Promise<PostRow> {
  const { brands, posts, events, jobs, publicUrl } = context
  const { brandId } = await posts.require(id)
  const brand = await brands.require(brandId)
  return remove(context, {
    of: posts,
    id,
    expectedVersion,
    before: ({ transaction }) => brands.requireInUse(brandId, transaction),
    decide: post => void move(post, 'delete'),
    audit: ({ status }) => ({ tenantId: brandId, action: 'post.deleted', subjectId: id, details: { status } }),
    tell: post => factsOf(post, null, { organizationId: brand.organizationId, publicUrl }),
    async wake(post, { transaction }) {
      if (post.status === 'SCHEDULED') await letSleep(jobs, post, transaction)
      await posts.release(await posts.successor(post, transaction), transaction)
    },
    announce: post => announcePost(events, brand, post),
  })
}

export const postResolvers: Resolvers = {
  Query: {
    post: (_, { id }, { posts }) => posts.require(id),
    posts: async (_, args, context) => {
      const filter: PostFilter = {
        organizationId: activeOrganization(context.viewer, 'Posts'),
        brandId: readId(args.brandId, 'brandId'),
        threadId: readId(args.threadId, 'threadId'),
        status: args.status ?? null,
        platform: args.platform ?? null,
        authorId: readId(args.authorId, 'authorId'),
        scheduledAfter: args.scheduledAfter ?? null,
        scheduledBefore: args.scheduledBefore ?? null,
      }
      return context.posts.filtered(filter, readPage(args, filter.threadId ? threadOrder : newestFirst))
    },
  },

  Mutation: {
    createPost: (_, { input }, context) => createPost(context, input),
    updatePost: (_, { input: { target, ...input } }, context) => changePost(context, { ...input, target: toTarget(target) }),
    reschedulePost: (_, { input: { id, scheduledAt, expectedVersion } }, context) => changePost(context, { id, scheduledAt, expectedVersion }),
    deletePost: (_, { input }, context) => deletePost(context, input),
  },

  Subscription: {
    postStatusChanged: {
      subscribe: async (_, args, context) => {
        const { id: brandId } = await context.brands.require(args.brandId, 'brandId')
        const threadId = readId(args.threadId, 'threadId')
        return eventsOfBrand(context.events.listen([postStatusTopic(brandId)]), event =>
          threadId === null || event.threadId === threadId ? { postId: event.postId! } : undefined,
        )
      },
      // Read at each event, with the viewer's right to the brand as it is then.
      resolve: ({ postId }: { postId: string }, _: unknown, { posts }: Context) => posts.byId.load(postId),
    },
  },

  Post: {
    __resolveReference: ({ id }, { posts }) => posts.byId.load(id),
    failure: ({ failureCode, failureMessage, failedAt, attempts }) =>
      failureCode && failureMessage && failedAt ? { code: failureCode, message: failureMessage, failedAt, attempts } : null,
    waitsFor: async (post, _, context) => {
      if (post.status !== 'SCHEDULED' || post.position === 1) return null
      const predecessor = await context.posts.predecessorOf.load(post.id)
      return isHeldBy(predecessor) ? predecessor : null
    },
    brand: (post, _, context) => context.brands.byId.load(post.brandId),
    author: ({ authorId }) => (authorId ? { __typename: 'User', id: authorId } : null),
    connection: async (post, _, context) => {
      if (post.connectionId && post.status === 'PUBLISHED') return context.connections.byId.load(post.connectionId)
      return chooseConnection(await context.connections.manyBy('brandId').load(post.brandId), post.platform, post.authorId)
    },
  },
}
