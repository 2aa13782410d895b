import { isId } from '../../../../platform/ids.ts'
import type { Connection, PageRequest } from '../../../../platform/page.ts'
import { isMoment, type Order, toConnection } from '../../../../platform/page.ts'
import { rows, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Platform } from '../../network/network.ts'
import { type PostRow, type PostStatus, posts } from '../post.ts'
import { type CampaignRow, campaigns } from './campaign.ts'

/** An entry of a calendar: a post with a time, or a campaign with days. */
export interface CalendarEntryRow {
  readonly id: string
  readonly kind: 'POST' | 'CAMPAIGN'
  readonly at: Date
  readonly endsAt: Date | null
  /** Day in the brand's time zone. */
  readonly day: string
  readonly time: string
  readonly title: string
  readonly brandId: string
  readonly platform: Platform | null
  readonly status: PostStatus | null
  readonly version: number
  readonly post: PostRow | null
  readonly campaign: CampaignRow | null
}

/** Filter of entries: of an organization, or of one of its brands. */
export interface CalendarFilter {
  readonly organizationId: string
  readonly brandId: string | null
  readonly from: Date
  readonly to: Date
}

/** The order of a calendar. */
export const inTime: Order<CalendarEntryRow> = {
  name: 'calendar.time',
  position: ({ at, id }) => [at.toISOString(), id],
  parts: [isMoment, isId],
}

/** Statuses of posts with a present or former time. */
const timed = `unnest(array['SCHEDULED', 'PUBLISHED', 'FAILED']) s(status)`
const ofBrands = 'b.organization_id = $1 and case when $2::uuid is null then b.archived_at is null else b.id = $2 end'
const postColumns = selectList(posts, 'p')

const pageOfPosts = (after: string) =>
  statement(
    `select ${postColumns} from publishing.brands b cross join ${timed} cross join lateral (
       select * from publishing.posts p where p.brand_id = b.id and p.status = s.status and p.scheduled_at >= $3 and p.scheduled_at < $4${after}
       order by p.scheduled_at, p.id limit $5) p
     where ${ofBrands} order by p.scheduled_at, p.id limit $5`,
  )
const firstPosts = pageOfPosts('')
const nextPosts = pageOfPosts(' and (p.scheduled_at, p.id) > ($6::timestamptz, $7::uuid)')
const countPosts = statement(
  `select count(*)::int as count from publishing.brands b cross join ${timed}
   join publishing.posts p on p.brand_id = b.id and p.status = s.status and p.scheduled_at >= $3 and p.scheduled_at < $4 where ${ofBrands}`,
)
// Days are compared as texts; time zones are applied afterwards.
const campaignsOfDays = statement(
  `select ${selectList(campaigns, 'c')} from publishing.brands b join publishing.campaigns c on c.brand_id = b.id
   where ${ofBrands} and c.archived_at is null and c.starts_on <= $4 and coalesce(c.ends_on, c.starts_on) >= $3 order by c.starts_on, c.id limit $5`,
)
/**
 * Time in ms between two posts at a place from which they do not conflict, and maximum number of conflicts shown for an
 * entry.
 */
export const conflictMs = 15 * 60_000
export const mostConflicts = 50
/** The fields that determine where a post is shown: texts would be read once for each neighbouring post. */
export type NearPost = Pick<PostRow, 'id' | 'brandId' | 'platform' | 'status' | 'authorId' | 'connectionId' | 'target'>
const nearList = 'p.id, p.brand_id as "brandId", p.platform, p.status, p.author_id as "authorId", p.connection_id as "connectionId", p.target'
const near = statement(
  `select k.id as "of", ${nearList} from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::uuid[]) k(id, brand_id, platform, at, thread_id)
   cross join ${timed} cross join lateral (
     select * from publishing.posts p where p.brand_id = k.brand_id and p.status = s.status and p.platform = k.platform and p.thread_id <> k.thread_id
       and p.scheduled_at > k.at - interval '${conflictMs} ms' and p.scheduled_at < k.at + interval '${conflictMs} ms'
     order by p.scheduled_at, p.id limit ${mostConflicts}) p
   order by p.scheduled_at, p.id`,
)

/** Maximum campaigns of all brands that a calendar reads. */
const mostCampaignsAtOnce = 1_000

/** Statements about calendars. */
export const calendarStore = {
  open: ({ sequelize, reading }: StoreContext) => {
    const ask = <Found>(...[wanted, values]: [ReturnType<typeof statement>, readonly unknown[]]) => rows<Found>(sequelize, wanted, values, null, reading)
    return {
      /** Returns posts of the range behind a position, as many as a page needs. */
      posts: ({ organizationId, brandId, from, to }: CalendarFilter, { after, limit }: PageRequest) =>
        reading.statement(() =>
          after
            ? ask<PostRow>(nextPosts, [organizationId, brandId, from, to, limit, ...after])
            : ask<PostRow>(firstPosts, [organizationId, brandId, from, to, limit]),
        ),

      /** @param first and @param last days, as `2027-03-01` */
      campaigns: ({ organizationId, brandId }: CalendarFilter, first: string, last: string) =>
        reading.statement(() => ask<CampaignRow>(campaignsOfDays, [organizationId, brandId, first, last, mostCampaignsAtOnce])),

      /** Returns a page of the found entries, ordered by time. */
      page: (filter: CalendarFilter, request: PageRequest, entries: readonly CalendarEntryRow[], campaignsInAll: number): Connection<CalendarEntryRow> =>
        toConnection(entries, request, inTime, async () => {
          const { organizationId, brandId, from, to } = filter
          const [found] = await reading.statement(() => ask<{ count: number }>(countPosts, [organizationId, brandId, from, to]))
          return found!.count + campaignsInAll
        }),

      /** Loads posts of the brand and network that are close to a post and not in its thread, for one operation. */
      near: createLoader<PostRow, NearPost[]>(reading, async of => {
        const keys = [
          of.map(({ id }) => id),
          of.map(({ brandId }) => brandId),
          of.map(({ platform }) => platform),
          of.map(({ scheduledAt }) => scheduledAt),
          of.map(({ threadId }) => threadId),
        ]
        const found = Map.groupBy(await ask<NearPost & { of: string }>(near, keys), row => row.of)
        return of.map(({ id }) => found.get(id) ?? [])
      }),
    }
  },
}
