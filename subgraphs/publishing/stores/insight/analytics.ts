import type { Transaction } from 'sequelize'
import { rows, type Statement, statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import type { StoreContext } from '../../../store/store.ts'
import type { Figures, Platform } from '../../network/network.ts'
import { everyNetwork, platforms } from '../../network/networks.ts'
import { type ConnectionRow, connections } from '../connection.ts'
import { type PostRow, posts } from '../post.ts'
import { figuresOf, largest, mostTop } from './day-sums.ts'

/** A network's figures of a post at one moment. */
export interface AnalyticsSnapshotRow extends Figures {
  readonly at: Date
}

/** Figures of a post, the oldest first. */
export interface PostAnalyticsRow {
  readonly postId: string
  readonly snapshots: readonly AnalyticsSnapshotRow[]
}

/** An account's followers on a day. */
export interface FollowersRow {
  readonly connectionId: string
  readonly platform: Platform
  readonly count: number
  readonly day: string
  readonly change: number | null
}

/** Maximum number of posts, snapshots and days in one answer. */
export const most = { top: mostTop, snapshots: 100, days: 368, perCsvPage: 500 } as const

const each = Object.entries(figuresOf) as [keyof Figures, string][]
const listOf = (alias: string) => each.map(([name, column]) => `${alias}.${column} as "${name}"`).join(', ')
const columns = each.map(([, column]) => column).join(', ')
const given = each.map(([name]) => `t."${name}"`).join(', ')
const recordset = `jsonb_to_recordset($1::jsonb) as t ("brandId" uuid, "postId" uuid, "dueAt" timestamptz, ${each.map(([name]) => `"${name}" integer`).join(', ')})`
const postColumns = selectList(posts, 'p')

const counted = platforms.filter(name => everyNetwork[name].capabilities.analytics)
const begin = statement(
  `insert into publishing.post_figures (brand_id, post_id, published_at, due_at)
   select p.brand_id, p.id, p.published_at, p.published_at + interval '1 hour' from publishing.posts p
   where p.id = any($1::uuid[]) and p.status = 'PUBLISHED' and p.platform = any(array[${counted.map(name => `'${name}'`).join(', ')}]) on conflict do nothing`,
)
const ask = statement(
  `insert into publishing.post_figures (brand_id, post_id, published_at, asked_at)
   select p.brand_id, p.id, p.published_at, $2 from publishing.posts p where p.id = $1 and p.status = 'PUBLISHED'
   on conflict (brand_id, post_id) do update set asked_at = $2 where post_figures.asked_at is null or post_figures.asked_at <= $3
   returning asked_at`,
)
const due = statement(
  `update publishing.post_figures f set due_at = $2 from (
     select brand_id, post_id from publishing.post_figures where due_at <= $1 order by due_at limit $3 for update skip locked) d
   where f.brand_id = d.brand_id and f.post_id = d.post_id returning f.post_id as id`,
)
const withIds = statement(`select ${postColumns} from publishing.posts p where p.id = any($1::uuid[]) order by p.id`)
const keep = statement(
  `with kept as (insert into publishing.figure_snapshots (brand_id, post_id, at, ${columns}) select t."brandId", t."postId", $2, ${given} from ${recordset} on conflict do nothing)
   update publishing.post_figures f set at = $2, due_at = t."dueAt", ${each.map(([name, column]) => `${column} = t."${name}"`).join(', ')}
   from ${recordset} where f.brand_id = t."brandId" and f.post_id = t."postId"`,
)
const putOff = statement(`update publishing.post_figures f set due_at = t."dueAt" from ${recordset} where f.brand_id = t."brandId" and f.post_id = t."postId"`)
const snapshotsOf = statement(
  `select k.id as "postId", s.at, ${listOf('s')} from unnest($1::uuid[]) k(id) cross join lateral (
     select * from publishing.figure_snapshots s where s.post_id = k.id order by s.at desc limit ${most.snapshots}) s order by s.at`,
)
const published = `from publishing.posts p left join publishing.post_figures f on f.brand_id = p.brand_id and f.post_id = p.id
   where p.brand_id = $1 and p.status = 'PUBLISHED' and p.published_at >= $2 and p.published_at < $3`
const listed = statement(
  `select ${postColumns}, ${listOf('f')} ${published} and (p.published_at, p.id) > ($4::timestamptz, $5::uuid) order by p.published_at, p.id limit ${most.perCsvPage}`,
)
const unfollowed = statement(
  `select ${selectList(connections, 'c')} from publishing.connections c
   where c.active and not exists (select from publishing.follower_counts f where f.brand_id = c.brand_id and f.connection_id = c.id and f.day = $1)
   order by c.id limit $2`,
)
const noteFollowers = statement('insert into publishing.follower_counts (brand_id, connection_id, day, count) values ($1, $2, $3, $4) on conflict do nothing')
const followersOf = statement(
  `select c.id as "connectionId", c.platform, l.count, l.day, l.count - e.count as change from publishing.connections c
   cross join lateral (select f.count, f.day from publishing.follower_counts f where f.brand_id = c.brand_id and f.connection_id = c.id and f.count is not null
     and f.day >= $2 and f.day <= $3 order by f.day desc limit 1) l
   left join lateral (select f.count from publishing.follower_counts f where f.brand_id = c.brand_id and f.connection_id = c.id and f.count is not null
     and f.day >= $2 and f.day < l.day order by f.day limit 1) e on true
   where c.brand_id = $1 order by c.connected_at desc, c.id limit 50`,
)

/** New figures of one post. */
export interface NewFigures extends Partial<Figures> {
  readonly brandId: string
  readonly postId: string
  /** Time of the next reading; null when no further one is scheduled. */
  readonly dueAt: Date | null
}

const bounded = (figures: readonly NewFigures[]) =>
  JSON.stringify(figures, (_, value: unknown) => (typeof value === 'number' ? Math.max(0, Math.min(Math.round(value), largest)) : value))

/** Figures of posts and accounts. */
export const analyticsStore = {
  open({ sequelize, reading }: StoreContext) {
    const read = <Found = object>(wanted: Statement, values: readonly unknown[], transaction: Transaction | null = null) =>
      rows<Found>(sequelize, wanted, values, transaction, transaction ? undefined : reading)
    return {
      /**
       * Schedules the first reading of posts that were published in this transaction, an hour later, where their
       * network provides figures.
       */
      begin: async (postIds: readonly string[], transaction: Transaction): Promise<void> => void (await read(begin, [postIds], transaction)),

      /** Records that a person requested figures of a post now; false when one was requested after `before`. */
      ask: async (postId: string, now: Date, before: Date): Promise<boolean> => (await read(ask, [postId, now, before])).length > 0,

      /** Claims posts whose figures are due. A post whose figures are not stored becomes due again at `until`. */
      async due(now: Date, until: Date, limit: number): Promise<PostRow[]> {
        const found = await read<{ id: string }>(due, [now, until, limit])
        return found.length === 0 ? [] : read<PostRow>(withIds, [found.map(({ id }) => id)])
      },

      keep: async (figures: readonly NewFigures[], now: Date): Promise<void> => void (await read(keep, [bounded(figures), now])),
      putOff: async (figures: readonly NewFigures[]): Promise<void> => void (await read(putOff, [bounded(figures)])),

      /** Loads the figures of posts by their ids, for one operation. */
      of: createLoader<string, PostAnalyticsRow>(reading, async ids => {
        const found = Map.groupBy(await read<AnalyticsSnapshotRow & { postId: string }>(snapshotsOf, [ids]), ({ postId }) => postId)
        return ids.map(postId => ({ postId, snapshots: found.get(postId) ?? [] }))
      }),

      /** Returns the next posts behind a position, in the order of their publication. */
      listed: (brandId: string, from: Date, to: Date, [at, id]: readonly [Date, string]) => read<PostRow & Figures>(listed, [brandId, from, to, at, id]),

      /** Returns active connections without a follower count on this day. */
      unfollowed: (day: string, limit: number) => read<ConnectionRow>(unfollowed, [day, limit]),
      noteFollowers: async ({ brandId, id }: ConnectionRow, day: string, count: number | null): Promise<void> =>
        void (await read(noteFollowers, [brandId, id, day, count === null ? null : Math.max(0, Math.min(Math.round(count), largest))])),
      followers: (brandId: string, first: string, last: string) => read<FollowersRow>(followersOf, [brandId, first, last]),
    }
  },
}
