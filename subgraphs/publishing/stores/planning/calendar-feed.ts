import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { type BrandRow, brands } from '../brand.ts'
import type { PostRow } from '../post.ts'

/** Addresses at which calendar programs read posts: one for each brand at most. */
export const calendarFeeds = table('publishing.calendar_feeds', {
  brandId: uuid.key,
  id: uuid,
  /** Whose the brand was: of one that has moved on the address rests until its new organization confirms it. */
  organizationId: uuid,
  /** SHA-256 of the token in the address. */
  tokenHash: text,
  ...stamps,
})

export type CalendarFeedRow = Row<typeof calendarFeeds>

const lockOf = statement(`select ${selectList(calendarFeeds, 't')} from publishing.calendar_feeds t where t.brand_id = $1 for update`)
const lockMaking = transactionLock('publishing.calendar_feeds')
const byToken = statement(
  `select ${selectList(brands, 'b')} from publishing.calendar_feeds f join publishing.brands b on b.id = f.brand_id and b.organization_id = f.organization_id
   where f.token_hash = $1`,
)
/** How many posts of each status a feed tells. */
const mostTold = 2_500
/** How much of a post's text a calendar shows, in characters. */
export const toldLength = 2_000
const toldList = `p.id, p.platform, p.title, left(p.copy, ${toldLength}) as copy, p.status, p.permalink, p.version, p.updated_at as "updatedAt", p.scheduled_at as "scheduledAt"`

/** As much of a post as a calendar program reads: thousands of long texts whole would fill the process. */
export type ToldPost = Pick<PostRow, 'id' | 'platform' | 'title' | 'copy' | 'status' | 'permalink' | 'version' | 'updatedAt' | 'scheduledAt'>

const told = statement(
  `(select ${toldList} from publishing.posts p where p.brand_id = $1 and p.status = 'PUBLISHED' and p.scheduled_at >= $2 and p.scheduled_at < $3
     order by p.scheduled_at desc limit ${mostTold})
   union all (select ${toldList} from publishing.posts p where p.brand_id = $1 and p.status = 'SCHEDULED' and p.scheduled_at >= $2
     and p.scheduled_at < $3 order by p.scheduled_at limit ${mostTold})`,
)

const feedSql = (rows: Rows<typeof calendarFeeds>) => ({
  /** The feed of a brand, under lock; nobody makes another for it before the transaction ends. */
  async lockOf(brandId: string, transaction: Transaction): Promise<CalendarFeedRow | null> {
    await rows.read(lockMaking, [brandId], transaction)
    const [found] = await rows.read(lockOf, [brandId], transaction)
    return found ?? null
  },

  /** The brand whose feed has this token; null once it was revoked, or replaced, or the brand has moved to another organization. */
  async brandOf(tokenHash: string): Promise<BrandRow | null> {
    const [found] = await rows.read<BrandRow>(byToken, [tokenHash])
    return found ?? null
  },

  /** Scheduled and published posts of a brand between two moments: the latest of these, the next of those, 2,500 each at most. */
  told: (brandId: string, from: Date, to: Date) => rows.read<ToldPost>(told, [brandId, from, to]),
})

export const calendarFeedStore = store(
  calendarFeeds,
  { what: 'calendar feed', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' }, manyBy: { brandId: 't.created_at' } },
  feedSql,
)
