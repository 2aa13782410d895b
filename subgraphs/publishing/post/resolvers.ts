import { readId, requireText } from '../../../platform/ids.ts'
import { readPage } from '../../../platform/page.ts'
import { create } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import { nameOfPlace } from '../connection/places.ts'
import { chooseConnection } from '../connection/rules.ts'
import type { Context } from '../context.ts'
import { kindOfFailure } from '../delivery/failure.ts'
import { isHeldBy } from '../delivery/rules.ts'
import { announcePost, eventsOfBrand, postStatusTopic } from '../news/announce.ts'
import type { CreatePostInput, Resolvers } from '../resolvers.generated.ts'
import { newestFirst, type PostFilter, type PostRow, threadOrder } from '../stores/post.ts'
import { changePost } from './change.ts'
import { written } from './content.ts'
import { deletePost } from './delete.ts'
import { surroundingsOf } from './problems.ts'
import { checkMoment } from './rules.ts'
import { requireSpace } from './thread/rules.ts'
import { accompany, requireRoom, rowOf } from './write.ts'

/** Creates a post, checked in advance as far as the input allows; once for each idempotency key. */
async function createPost(context: Context, input: CreatePostInput): Promise<PostRow> {
  const { brands, campaigns, posts, threads, clock, events, viewer } = context
  const brand = await brands.require(input.brandId, 'brandId')
  const { platform, scheduledAt = null } = input
  const content = written(input, platform, null)
  if (scheduledAt) checkMoment(scheduledAt, clock.now())
  const threadId = readId(input.threadId, 'threadId')
  const surroundings = await surroundingsOf(context, { brandId: brand.id, media: content.media, platforms: scheduledAt ? [platform] : [] })
  const { row } = await create(context, {
    of: posts,
    once: input,
    tenantId: brand.organizationId,
    async run(unit, id) {
      const { transaction, now } = unit
      // In the order of all that write posts: two of one caller would else wait for each other.
      const mode = await brands.requireInUse(brand.id, transaction)
      await requireRoom(context, 1, unit)
      const position = threadId ? await posts.placeIn(brand.id, threadId, transaction) : 1
      requireSpace(position)
      if (content.campaignId) await campaigns.requireOf(brand.id, content.campaignId, transaction)
      if (threadId) await threads.know(brand.id, threadId, now, actorOf(viewer), transaction)
      // The time is checked only now: a repeated request that arrives after it still returns the first post.
      return rowOf(context, brand, mode, { platform, content, scheduledAt, surroundings, threadId: threadId ?? id, position }, unit, id)
    },
    audit: ({ id }) => ({ tenantId: brand.id, action: 'post.created', subjectId: id }),
    wake: (post, unit) => accompany(context, post, unit),
    announce: post => announcePost(events, brand, post),
  })
  return row
}

/** Minimum and maximum characters of a search; the index finds no shorter words. */
const searched = { least: 3, most: 200 } as const

/** Reads the words of a search. @throws BAD_USER_INPUT for too few or too many characters */
const readSearch = (given: string | null | undefined): string | null =>
  given === null || given === undefined ? null : requireText(given, 'search', searched.most, searched.least)

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
        approval: args.approval ?? null,
        deliveryPhase: args.deliveryPhase ?? null,
        campaignId: readId(args.campaignId, 'campaignId'),
        groupId: readId(args.groupId, 'groupId'),
        tag: args.tag ?? null,
        search: readSearch(args.search),
      }
      return context.posts.filtered(filter, readPage(args, filter.threadId ? threadOrder : newestFirst))
    },
  },

  Mutation: {
    createPost: (_, { input }, context) => createPost(context, input),
    updatePost: (_, { input }, context) => changePost(context, input),
    reschedulePost: (_, { input: { id, scheduledAt, expectedVersion } }, context) => changePost(context, { id, scheduledAt, expectedVersion }),
    publishPost: (_, { input: { id, expectedVersion } }, context) => changePost(context, { id, expectedVersion, verb: 'publish' }),
    cancelPost: (_, { input: { id, expectedVersion } }, context) => changePost(context, { id, expectedVersion, verb: 'cancel' }),
    deletePost: (_, { input }, context) => deletePost(context, input),
  },

  Subscription: {
    postStatusChanged: {
      subscribe: async (_, args, context) => {
        const { id: brandId } = await context.brands.require(args.brandId, 'brandId')
        const threadId = readId(args.threadId, 'threadId')
        return eventsOfBrand(context.events.listen([postStatusTopic(brandId)]), brandId, event =>
          threadId === null || event.threadId === threadId ? { postId: event.postId! } : undefined,
        )
      },
      // Read for each event, with the viewer's present right to the brand.
      resolve: ({ postId }: { postId: string }, _: unknown, { posts }: Context) => posts.byId.load(postId),
    },
  },

  Post: {
    __resolveReference: ({ id }, { posts }) => posts.byId.load(id),
    failure: ({ failureCode, failureMessage, failedAt, attempts }) =>
      failureCode && failureMessage && failedAt ? { code: failureCode, message: failureMessage, failedAt, attempts, ...kindOfFailure(failureCode) } : null,
    firstComment: ({ firstComment: text, firstCommentStatus: status, firstCommentId: platformPostId, firstCommentMessage: message }) =>
      text !== null && status ? { text, status, platformPostId, message } : null,
    waitsFor: async (post, _, context) => {
      if (post.status !== 'SCHEDULED' || post.position === 1) return null
      const predecessor = await context.posts.predecessorOf.load(post.id)
      return isHeldBy(predecessor) ? predecessor : null
    },
    async target({ target, platform, brandId }, _, { connections }) {
      if (target?.name !== null) return target
      return { ...target, name: nameOfPlace(await connections.manyBy('brandId').load(brandId), platform, target) }
    },
    brand: (post, _, context) => context.brands.byId.load(post.brandId),
    author: ({ authorId }) => (authorId ? { __typename: 'User', id: authorId } : null),
    connection: async (post, _, context) => {
      if (post.connectionId && post.status === 'PUBLISHED') return context.connections.byId.load(post.connectionId)
      return chooseConnection(await context.connections.manyBy('brandId').load(post.brandId), post.platform, post.authorId)
    },
  },
}
