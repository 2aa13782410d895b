import type { Transaction } from 'sequelize'
import { transactionLockIfFree } from '../../../../platform/sql/lock.ts'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Figures, Platform } from '../../network/network.ts'
import { type PostRow, posts } from '../post.ts'

/** The figures that networks report, with their columns. */
export const figuresOf = {
  impressions: 'impressions',
  likes: 'likes',
  comments: 'comments',
  shares: 'shares',
  clicks: 'clicks',
  videoViews: 'video_views',
} as const satisfies Readonly<Record<keyof Figures, string>>

/** Maximum reported number (the maximum of GraphQL's Int); networks may count further. */
export const largest = 2_147_483_647

/** A day in the brand's time zone, from its first moment to that of the next day. */
export interface Day {
  readonly starts: Date
  readonly ends: Date
}

/** Determines the limits of days: a time zone, and the version of the time zone database. */
export interface Clocks {
  readonly timeZone: string
  readonly zones: string
}

/** Selects the posts to sum: those of a brand that were published in a period, which covers these days. */
export interface Range {
  readonly brandId: string
  readonly from: Date
  readonly to: Date
  readonly days: readonly Day[]
  readonly clocks: Clocks
}

/** Number of posts, and the sums of their figures; null where no network provides them. */
export interface AnalyticsSumsRow extends Figures {
  readonly posts: number
}

/** Sums of all posts, of a network, or of a day. */
interface Summed extends AnalyticsSumsRow {
  readonly ofPlatform: boolean
  readonly ofDay: boolean
  readonly platform: Platform | null
  /** Position among the requested days, from 1. */
  readonly day: number | null
}

/** A brand with sums. */
export interface SummedBrand {
  readonly timeZone: string
  /** The time zone and database version of the brand's sums; null when it has none yet. */
  readonly by: Clocks | null
}

/** Number of top posts. */
export const mostTop = 10

const figures = Object.entries(figuresOf)
const columns = figures.map(([, column]) => column)
const score = (f: string) => ['likes', 'comments', 'shares', 'clicks'].map(column => `coalesce(${f}.${column}, 0)::bigint`).join(' + ')
const seen = (f: string) => `coalesce(${f}.impressions, ${f}.video_views, 0)`
/** The order of top posts: interactions, then views. */
const best = `${score('f')} desc, ${seen('f')} desc, p.id`
const daysGiven = 'unnest($2::timestamptz[], $3::timestamptz[])'
const withFigures = 'left join publishing.post_figures f on f.brand_id = p.brand_id and f.post_id = p.id'

/** The days of a range: those with a valid stored sum, and those whose posts must be summed. */
const days = `days as materialized (
  select n::int as day, starts, ends, greatest(starts, $4::timestamptz) as since, least(ends, $5::timestamptz) as until,
    starts >= $4::timestamptz and ends <= $5::timestamptz
      and exists (select from publishing.summed_brands s where s.brand_id = $1 and s.time_zone = $6 and s.zones = $7)
      and n not in (select width_bucket(m.published_at, $2::timestamptz[]) from publishing.days_to_sum m
        where m.brand_id = $1 and m.published_at >= $4::timestamptz and m.published_at < $5::timestamptz) as kept
  from ${daysGiven} with ordinality as t(starts, ends, n) where starts < ends)`
/** The posts of those days, day by day along the index, with their figures. Posts of other days are not read. */
const postsOfDays = `days d cross join lateral (
     select p.id, p.platform from publishing.posts p
     where p.brand_id = $1 and p.status = 'PUBLISHED' and p.published_at >= d.since and p.published_at < d.until offset 0) p
   left join lateral (select * from publishing.post_figures f where f.brand_id = $1 and f.post_id = p.id limit 1) f on true`
const summed = statement(
  `with ${days}, parts as (
     select d.day, s.platform, s.posts, ${columns.map(column => `s.${column}`).join(', ')}
     from days d join publishing.day_sums s on s.brand_id = $1 and s.starts_at = d.starts where d.kept
     union all
     select d.day, p.platform, 1, ${columns.map(column => `f.${column}::bigint`).join(', ')} from ${postsOfDays} where not d.kept)
   select grouping(platform) = 0 as "ofPlatform", grouping(day) = 0 as "ofDay", platform, day, coalesce(sum(posts), 0)::int as posts,
     ${figures.map(([name, column]) => `case when sum(${column}) > ${largest} then ${largest} else sum(${column}) end::int as "${name}"`).join(', ')}
   from parts group by grouping sets ((), (platform), (day))`,
)
/** Reads the top ten only: beyond ten days or networks with better first posts, no post can be among the ten best. */
const top = statement(
  `with ${days}, candidates as (
     select unnest(k.top) as id from (
       select s.top from days d join publishing.day_sums s on s.brand_id = $1 and s.starts_at = d.starts
       where d.kept and s.top_score is not null order by s.top_score desc, s.top_seen desc, s.top[1] limit ${mostTop}) k
     union all
     select * from (select p.id from ${postsOfDays} where not d.kept and f.at is not null order by ${best} limit ${mostTop}) o)
   select ${selectList(posts, 'p')}, ${figures.map(([name, column]) => `f.${column} as "${name}"`).join(', ')}
   from candidates c join publishing.posts p on p.brand_id = $1 and p.id = c.id ${withFigures}
   order by ${best} limit ${mostTop}`,
)

/** Only one process sums a brand at a time. Later reads in the transaction see the state after the lock. */
const hold = transactionLockIfFree('publishing.day_sums')
/** Locks the brand until its sums are stored. */
const brandOf = statement(
  `select b.time_zone as "timeZone", s.time_zone as "summedZone", s.zones from publishing.brands b
   left join publishing.summed_brands s on s.brand_id = b.id where b.id = $1 for key share of b`,
)
const waiting = statement(
  `with recursive noted as (
     (select brand_id, 1 as n from publishing.days_to_sum order by brand_id limit 1)
     union all
     select (select d.brand_id from publishing.days_to_sum d where d.brand_id > noted.brand_id order by d.brand_id limit 1), n + 1
     from noted where noted.brand_id is not null and n < $2)
   select brand_id as "brandId" from noted where brand_id is not null
   union (select brand_id from publishing.summed_brands where zones < $1 limit $2)
   union (select brand_id from publishing.summed_brands where zones > $1 limit $2)`,
)
const takeNoted = statement('delete from publishing.days_to_sum where brand_id = $1 returning published_at as at')
const extent = statement(
  `select least(min(at), (select min(starts_at) from publishing.day_sums where brand_id = $1)) as first,
     greatest(max(at), (select max(starts_at) from publishing.day_sums where brand_id = $1)) as last
   from (select min(published_at) from publishing.posts where brand_id = $1 and status = 'PUBLISHED'
     union all select max(published_at) from publishing.posts where brand_id = $1 and status = 'PUBLISHED') t(at)`,
)
const forget = statement('delete from publishing.day_sums where brand_id = $1 and starts_at = any($2::timestamptz[])')
const forgetAll = statement('delete from publishing.day_sums where brand_id = $1')
const kept = `starts_at, platform, posts, ${columns.join(', ')}, top, top_score, top_seen`
const ofTop = (what: string) => `array_agg(${what} order by ${best}) filter (where f.at is not null)`
const fresh = `select d.starts as starts_at, p.platform, count(*)::int as posts, ${columns.map(column => `sum(f.${column}) as ${column}`).join(', ')},
     coalesce((${ofTop('p.id')})[1:${mostTop}], '{}') as top, (${ofTop(score('f'))})[1] as top_score, (${ofTop(seen('f'))})[1] as top_seen
   from ${daysGiven} d(starts, ends) join publishing.posts p on p.brand_id = $1 and p.status = 'PUBLISHED' and p.published_at >= d.starts and p.published_at < d.ends
   ${withFigures} where d.starts < d.ends group by d.starts, p.platform`
const keep = statement(`insert into publishing.day_sums (brand_id, ${kept}) select $1, ${kept} from (${fresh}) fresh`)
const keepBrand = statement(
  `insert into publishing.summed_brands (brand_id, time_zone, zones, checked_at) values ($1, $2, $3, $4)
   on conflict (brand_id) do update set time_zone = excluded.time_zone, zones = excluded.zones, checked_at = excluded.checked_at`,
)
const toCheck = statement('select brand_id as "brandId" from publishing.summed_brands where checked_at < $1 order by checked_at limit 1')
const checked = statement('update publishing.summed_brands set checked_at = $2 where brand_id = $1')
/** Finds days whose stored sum differs from their posts although no change is noted. */
const drift = statement(
  `with fresh as (${fresh}), differing as (
     (select * from fresh except select ${kept} from publishing.day_sums where brand_id = $1)
     union all (select ${kept} from publishing.day_sums where brand_id = $1 except select * from fresh))
   select distinct i.starts_at as "startsAt" from differing i left join ${daysGiven} d(starts, ends) on d.starts = i.starts_at and d.starts < d.ends
   where not exists (select from publishing.days_to_sum n where n.brand_id = $1 and n.published_at >= i.starts_at and n.published_at < coalesce(d.ends, i.starts_at))
   order by 1`,
)
const note = statement('insert into publishing.days_to_sum (brand_id, published_at) select $1, * from unnest($2::timestamptz[])')

const told = ({ brandId, from, to, days, clocks }: Range) => [
  brandId,
  days.map(({ starts }) => starts),
  days.map(({ ends }) => ends),
  from,
  to,
  clocks.timeZone,
  clocks.zones,
]

/**
 * Sums of the figures of a brand's posts by day. Triggers note the day of every change in the change's own transaction;
 * a noted day is summed from its posts on each read until its sum is stored again. So answers are always exact.
 */
export const daySumsStore = {
  open({ sequelize, reading }: StoreContext) {
    const read = <Found = object>(wanted: Statement, values: readonly unknown[], transaction: Transaction | null = null) =>
      rows<Found>(sequelize, wanted, values, transaction, transaction ? undefined : reading)
    const given = (days: readonly Day[]) => [days.map(({ starts }) => starts), days.map(({ ends }) => ends)]
    return {
      /** Returns the sums of a range: of all posts, of each network, of each day. */
      sums: (range: Range) => read<Summed>(summed, told(range)),
      /** Returns the posts of a range with the most interactions, the best first. */
      top: (range: Range) => read<PostRow & Figures>(top, told(range)),

      /** Returns brands whose sums must be updated. @param zones present version of the time zone database */
      waiting: (zones: string, limit: number) => read<{ brandId: string }>(waiting, [zones, limit]),
      /** Returns the brand that was checked longest ago, if before a moment. */
      async toCheck(before: Date): Promise<string | null> {
        return (await read<{ brandId: string }>(toCheck, [before]))[0]?.brandId ?? null
      },

      /**
       * Locks a brand's sums until the transaction ends; null when another transaction has locked them, or the brand
       * was deleted.
       */
      async hold(brandId: string, transaction: Transaction): Promise<SummedBrand | null> {
        const [lock] = await read<{ held: boolean }>(hold, [brandId], transaction)
        if (!lock!.held) return null
        const [found] = await read<{ timeZone: string; summedZone: string | null; zones: string | null }>(brandOf, [brandId], transaction)
        if (!found) return null
        const { timeZone, summedZone, zones } = found
        return { timeZone, by: summedZone !== null && zones !== null ? { timeZone: summedZone, zones } : null }
      },

      /**
       * Removes and returns the noted publication times of a locked brand; the same transaction then sums their days.
       */
      takeNoted: async (brandId: string, transaction: Transaction): Promise<Date[]> =>
        (await read<{ at: Date }>(takeNoted, [brandId], transaction)).map(({ at }) => at),

      /** Returns the period in which a brand has posts or sums; null when it has none. */
      async extent(brandId: string, transaction: Transaction): Promise<{ readonly first: Date; readonly last: Date } | null> {
        const [found] = await read<{ first: Date | null; last: Date | null }>(extent, [brandId], transaction)
        return found?.first && found.last ? { first: found.first, last: found.last } : null
      },

      /** Sums days of a locked brand again. */
      async sumUp(brandId: string, days: readonly Day[], transaction: Transaction): Promise<void> {
        await read(forget, [brandId, days.map(({ starts }) => starts)], transaction)
        await read(keep, [brandId, ...given(days)], transaction)
      },

      /** Sums all days of a locked brand again. */
      async sumUpAll(brandId: string, days: readonly Day[], { timeZone, zones }: Clocks, now: Date, transaction: Transaction): Promise<void> {
        await read(forgetAll, [brandId], transaction)
        await read(keep, [brandId, ...given(days)], transaction)
        await read(keepBrand, [brandId, timeZone, zones, now], transaction)
      },

      /** Returns the days of a locked brand whose sums are wrong. @param days all of its days */
      async drift(brandId: string, days: readonly Day[], now: Date, transaction: Transaction): Promise<Date[]> {
        const found = await read<{ startsAt: Date }>(drift, [brandId, ...given(days)], transaction)
        await read(checked, [brandId, now], transaction)
        return found.map(({ startsAt }) => startsAt)
      },

      /** Notes days to be summed again. */
      note: async (brandId: string, moments: readonly Date[], transaction: Transaction): Promise<void> =>
        void (await read(note, [brandId, moments], transaction)),
    }
  },
}
