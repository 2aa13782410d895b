import { dayAfter } from '../../../../platform/clock.ts'
import { DomainError } from '../../../../platform/errors.ts'
import { isId, readId } from '../../../../platform/ids.ts'
import { readPage } from '../../../../platform/page.ts'
import { activeOrganization } from '../../../viewer.ts'
import { chooseConnection } from '../../connection/rules.ts'
import type { Context } from '../../context.ts'
import { changePost } from '../../post/change.ts'
import type { QueryCalendarEntriesArgs, Resolvers } from '../../resolvers.generated.ts'
import { inTime, type NearPost } from '../../stores/planning/calendar.ts'
import type { PostRow } from '../../stores/post.ts'
import { confirmFeed, createFeed, isResting, revokeFeed } from './feed.ts'
import { checkRange, entryOfCampaign, entryOfPost, mostDays, placeShown, requireMovable } from './rules.ts'

/** How many days a day of the calendar may differ from that of UTC. */
const zoneDays = 1

async function entries({ viewer, brands, calendar }: Context, { brandId, from, to, ...page }: QueryCalendarEntriesArgs) {
  const organizationId = activeOrganization(viewer, 'Calendars')
  checkRange(from, to, mostDays)
  const request = readPage(page, inTime)
  const wanted = readId(brandId, 'brandId')
  const filter = { organizationId, brandId: wanted && (await brands.require(wanted, 'brandId')).id, from, to }
  const [first, last] = [dayAfter(from.toISOString().slice(0, 10), -zoneDays), dayAfter(to.toISOString().slice(0, 10), zoneDays)]
  const [posts, campaigns] = await Promise.all([calendar.posts(filter, request), calendar.campaigns(filter, first, last)])
  const brandOf = async (row: { readonly brandId: string }) => (await brands.byId.load(row.brandId))!
  const ofPosts = await Promise.all(posts.map(async post => entryOfPost(post, await brandOf(post))))
  const ofCampaigns = (await Promise.all(campaigns.map(async campaign => entryOfCampaign(campaign, await brandOf(campaign))))).filter(
    ({ at, endsAt }) => at < to && endsAt! > from,
  )
  const { after } = request
  const placeOf = (entry: Parameters<typeof inTime.position>[0]) => inTime.position(entry).join(' ')
  const behind = after ? ofCampaigns.filter(entry => placeOf(entry) > after.join(' ')) : ofCampaigns
  const merged = [...ofPosts, ...behind].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)).slice(0, request.limit)
  return calendar.page(filter, request, merged, ofCampaigns.length)
}

/** Where followers see a post, or will. */
async function shownAt({ connections }: Context, post: NearPost): Promise<string> {
  const all = await connections.manyBy('brandId').load(post.brandId)
  const delivered = post.status === 'PUBLISHED' ? all.find(({ id }) => id === post.connectionId) : undefined
  return placeShown(post, delivered ?? chooseConnection(all, post.platform, post.authorId))
}

async function conflicts(context: Context, post: PostRow): Promise<string[]> {
  const near = await context.calendar.near.load(post)
  if (near.length === 0) return []
  const [place, ...places] = await Promise.all([post, ...near].map(each => shownAt(context, each)))
  return near.filter((_, at) => places[at] === place).map(({ id }) => id)
}

/** @throws NOT_FOUND, and BAD_USER_INPUT for a campaign, which the calendar shows too */
async function requirePost({ campaigns, posts }: Context, id: string): Promise<PostRow> {
  if (isId(id) && !(await posts.find(id)) && (await campaigns.find(id)))
    throw new DomainError('BAD_USER_INPUT', `${id} is a campaign, whose days are whole: change its first and last day with updateCampaign.`, { field: 'id' })
  return posts.require(id)
}

export const calendarResolvers: Resolvers = {
  Query: {
    calendarEntries: (_, parameters, context) => entries(context, parameters),
    async calendarFeed(_, { brandId }, { brands, calendarFeeds }) {
      const { id } = await brands.require(brandId, 'brandId')
      return (await calendarFeeds.manyBy('brandId').load(id))[0] ?? null
    },
  },
  Mutation: {
    async moveCalendarEntry(_, { input: { id, at, expectedVersion } }, context) {
      const { brands } = context
      const post = await requirePost(context, id)
      requireMovable(post)
      // A concurrent change to a draft wins: moving a post never schedules it.
      const moved = await changePost(context, { id, scheduledAt: at, expectedVersion: expectedVersion ?? post.version })
      return entryOfPost(moved, await brands.require(moved.brandId))
    },
    createCalendarFeed: (_, { input }, context) => createFeed(context, input.brandId),
    revokeCalendarFeed: (_, { input }, context) => revokeFeed(context, input.brandId),
    confirmCalendarFeed: (_, { input }, context) => confirmFeed(context, input.brandId),
  },
  CalendarEntry: { conflicts: ({ post }, _, context) => (post ? conflicts(context, post) : []) },
  CalendarFeed: {
    url: feed => ('url' in feed ? (feed.url as string) : null),
    resting: async (feed, _, { brands }) => isResting(feed, (await brands.byId.load(feed.brandId))!),
  },
}
