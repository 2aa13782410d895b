import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import { type BrandRow, brands } from '../brand.ts'
import type { PostRow } from '../post.ts'

/** Addresses at which calendar programs read posts: at most one for each brand. */
export const calendarFeeds = table('publishing.calendar_feeds', {
  brandId: uuid.key,
  id: uuid,
  /**
   * The brand's organization when the feed was confirmed: after the brand has moved, the address answers nothing until
   * the new organization confirms it.
   */
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
/** Maximum posts of each status in a feed. */
const maxFeedPosts = 2_500
/** Maximum characters of a post's text in a calendar. */
export const feedCopyLength = 2_000
const toldList = `p.id, p.platform, p.title, left(p.copy, ${feedCopyLength}) as copy, p.status, p.permalink, p.version, p.updated_at as "updatedAt", p.scheduled_at as "scheduledAt"`

/** The part of a post for calendar programs: thousands of whole texts would exhaust the process's memory. */
export type FeedPost = Pick<PostRow, 'id' | 'platform' | 'title' | 'copy' | 'status' | 'permalink' | 'version' | 'updatedAt' | 'scheduledAt'>

const told = statement(
  `(select ${toldList} from publishing.posts p where p.brand_id = $1 and p.status = 'PUBLISHED' and p.scheduled_at >= $2 and p.scheduled_at < $3
     order by p.scheduled_at desc limit ${maxFeedPosts})
   union all (select ${toldList} from publishing.posts p where p.brand_id = $1 and p.status = 'SCHEDULED' and p.scheduled_at >= $2
     and p.scheduled_at < $3 order by p.scheduled_at limit ${maxFeedPosts})`,
)

const feedSql = (rows: Rows<typeof calendarFeeds>) => ({
  /** Locks and returns the feed of a brand; no other feed is created for it before the transaction ends. */
  async lockOf(brandId: string, transaction: Transaction): Promise<CalendarFeedRow | null> {
    await rows.read(lockMaking, [brandId], transaction)
    const [found] = await rows.read(lockOf, [brandId], transaction)
    return found ?? null
  },

  /**
   * Returns the brand of a feed's token; null once it was revoked or replaced, or the brand has moved to another
   * organization.
   */
  async brandOf(tokenHash: string): Promise<BrandRow | null> {
    const [found] = await rows.read<BrandRow>(byToken, [tokenHash])
    return found ?? null
  },

  /**
   * Returns a brand's scheduled and published posts between two moments: the latest published and the next scheduled
   * ones, at most 2,500 each.
   */
  posts: (brandId: string, from: Date, to: Date) => rows.read<FeedPost>(told, [brandId, from, to]),
})

export const calendarFeedStore = store(
  calendarFeeds,
  { what: 'calendar feed', tenancy: { through: brands, owner: 'organizationId', by: 'brandId' }, manyBy: { brandId: 't.created_at' } },
  feedSql,
)
