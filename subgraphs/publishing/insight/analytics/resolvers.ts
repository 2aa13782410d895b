import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import type { Context } from '../../context.ts'
import { AccessExpired, type Figures, GrantFailure } from '../../network/network.ts'
import { everyNetwork, platforms } from '../../network/networks.ts'
import { checkRange } from '../../planning/calendar/rules.ts'
import type { QueryBrandAnalyticsArgs, Resolvers } from '../../resolvers.generated.ts'
import type { PostAnalyticsRow } from '../../stores/insight/analytics.ts'
import type { AnalyticsSumsRow } from '../../stores/insight/day-sums.ts'
import { count } from './collect.ts'
import { clocksOf, daysFrom } from './days.ts'
import { askMs, mostDays } from './rules.ts'

const nothing: AnalyticsSumsRow = { posts: 0, impressions: null, likes: null, comments: null, shares: null, clicks: null, videoViews: null }

const sumsOf = ({ posts, impressions, likes, comments, shares, clicks, videoViews }: AnalyticsSumsRow): AnalyticsSumsRow => ({
  posts,
  impressions,
  likes,
  comments,
  shares,
  clicks,
  videoViews,
})

/** Returns the figures of a brand's posts. */
async function brandAnalytics({ brands, analytics, daySums }: Context, { brandId, from, to }: QueryBrandAnalyticsArgs) {
  const brand = await brands.require(brandId, 'brandId')
  checkRange(from, to, mostDays)
  const { timeZone } = brand
  const days = daysFrom(timeZone, from, new Date(to.getTime() - 1))
  const range = { brandId: brand.id, from, to, days, clocks: clocksOf(timeZone) }
  const [sums, top, followers] = await Promise.all([
    daySums.sums(range),
    daySums.top(range),
    analytics.followers(brand.id, from.toISOString().slice(0, 10), to.toISOString().slice(0, 10)),
  ])
  const ofDay = new Map(sums.filter(row => row.ofDay).map(row => [row.day, row]))
  const ofPlatform = new Map(sums.filter(row => row.ofPlatform).map(row => [row.platform, row]))
  return {
    brandId: brand.id,
    from,
    to,
    totals: sumsOf(sums.find(row => !row.ofDay && !row.ofPlatform) ?? nothing),
    byPlatform: platforms.flatMap(platform => (ofPlatform.has(platform) ? [{ platform, sums: sumsOf(ofPlatform.get(platform)!) }] : [])),
    byDay: days.map(({ day }, at) => ({ day, sums: sumsOf(ofDay.get(at + 1) ?? nothing) })),
    topPosts: top.map(post => ({ postId: post.id, figures: sumsOf({ posts: 1, ...(post as Figures) }), post })),
    followers,
  }
}

/** Reads a post's figures now. */
async function refresh(context: Context, id: string): Promise<PostAnalyticsRow> {
  const { posts, analytics, clock } = context
  const post = await posts.require(id)
  if (post.status !== 'PUBLISHED')
    throw new DomainError('CONFLICT', `The post is ${post.status}: networks count what is published.`, {
      reason: 'ILLEGAL_MOVE',
      from: post.status,
      verb: 'refresh',
      possible: [],
    })
  const now = clock.now()
  if (!(await analytics.ask(post.id, now, new Date(now.getTime() - askMs))))
    throw new DomainError('RATE_LIMITED', 'The figures of this post were read within the last minute: use that answer, or wait.', { retryAfter: askMs / 1000 })
  try {
    await count(context, [post])
  } catch (error) {
    if (!(error instanceof OutboundFailure || error instanceof GrantFailure || error instanceof AccessExpired))
      context.log.warn({ err: error, postId: post.id }, 'network did not return analytics')
    throw new DomainError('UPSTREAM_FAILED', `${everyNetwork[post.platform].title} did not tell what it counts of this post: try again later.`)
  }
  return analytics.of.clear(post.id).load(post.id)
}

export const analyticsResolvers: Resolvers = {
  Query: {
    postAnalytics: async (_, { id }, { posts, analytics }) => analytics.of.load((await posts.require(id)).id),
    brandAnalytics: (_, parameters, context) => brandAnalytics(context, parameters),
  },
  Mutation: { refreshPostAnalytics: (_, { input }, context) => refresh(context, input.id) },
  Post: { analytics: ({ id }, _, { analytics }) => analytics.of.load(id) },
  PostAnalytics: { latest: ({ snapshots }) => snapshots.at(-1) ?? null },
}
