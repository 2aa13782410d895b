import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import type { Usage } from '../../../../platform/limit.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { createLoader } from '../../../store/loader.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { brands } from '../brand.ts'
import { postStatuses } from '../post.ts'

export const campaigns = table('publishing.campaigns', {
  brandId: uuid.key,
  id: uuid.key,
  name: text,
  description: text.maybe,
  color: text.maybe,
  /** Days in the brand's time zone, as `2027-03-01`, independent of the reader's zone. */
  startsOn: text.maybe,
  endsOn: text.maybe,
  archivedAt: moment.maybe,
  ...stamps,
})

export type CampaignRow = Row<typeof campaigns>

/** Numbers of a campaign's posts, by status. */
export interface CampaignCountsRow {
  readonly draft: number
  readonly scheduled: number
  readonly published: number
  readonly failed: number
}

/**
 * Maximum number of a brand's campaigns, archived ones included, because a calendar reads all campaigns of its days.
 */
export const mostCampaigns = 500

const lockMaking = transactionLock('publishing.campaigns')
const countMade = statement('select count(*)::int as "inAll" from publishing.campaigns where brand_id = $1')
const shareOne = statement('select id from publishing.campaigns where brand_id = $1 and id = $2 for key share')
/** Counts each status separately along the index: sorting fifty thousand posts by status takes three times as long. */
const countPosts = statement(
  `select c.id, ${postStatuses
    .map(status => `(select count(*) from publishing.posts p where p.campaign_id = c.id and p.status = '${status}')::int as "${status.toLowerCase()}"`)
    .join(', ')}
   from unnest($1::uuid[]) c(id)`,
)
const leave = statement('update publishing.posts set campaign_id = null where campaign_id = $1')

const campaignSql = (rows: Rows<typeof campaigns>, { reading }: StoreContext) => ({
  /**
   * Counts a brand's campaigns, and locks the count: no other campaign is created for it before the transaction ends.
   */
  async madeFor(brandId: string, transaction: Transaction): Promise<Usage> {
    await rows.read(lockMaking, [brandId], transaction)
    const [made] = await rows.read<{ inAll: number }>(countMade, [brandId], transaction)
    return { inAll: made!.inAll, today: 0, todaySince: null }
  },

  /**
   * Checks that a campaign belongs to the brand, and locks it until the transaction ends. Every write that adds a post
   * to a campaign calls it before it locks the post.
   * @throws NOT_FOUND, the same for a missing campaign and for another brand's
   */
  async requireOf(brandId: string, id: string, transaction: Transaction): Promise<void> {
    const [found] = await rows.read<{ id: string }>(shareOne, [brandId, id], transaction)
    if (!found) throw new DomainError('NOT_FOUND', `The brand has no campaign ${id}.`, { field: 'campaignId' })
  },

  /** Checks, without a lock, that a campaign belongs to the brand. @throws NOT_FOUND */
  async seeOf(brandId: string, id: string): Promise<void> {
    if ((await rows.byId.load(id))?.brandId !== brandId) throw new DomainError('NOT_FOUND', `The brand has no campaign ${id}.`, { field: 'campaignId' })
  },

  /** Loads the numbers of a campaign's posts, for one operation. */
  countsOf: createLoader<string, CampaignCountsRow>(reading, async ids => {
    const found = new Map((await rows.read<CampaignCountsRow & { id: string }>(countPosts, [ids])).map(row => [row.id, row]))
    return ids.map(id => found.get(id)!)
  }),

  /** Removes all posts from a campaign; the posts stay unchanged. */
  async leave(id: string, transaction: Transaction): Promise<void> {
    await rows.read(leave, [id], transaction)
  },
})

export const campaignStore = store(
  campaigns,
  {
    what: 'campaign',
    tenancy: { through: brands, owner: 'organizationId', by: 'brandId' },
    lists: {
      goingOn: { below: 'brandId', order: 'newest first', only: 't.archived_at is null' },
      archived: { below: 'brandId', order: 'newest first', only: 't.archived_at is not null' },
    },
  },
  campaignSql,
)
