import type { Transaction } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import type { Usage } from '../../../platform/limit.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, texts, uuid } from '../../../platform/sql/table.ts'
import { notFound, type Rows, type StoreContext, store } from '../../store/store.ts'

export type ApprovalMode = 'NONE' | 'OPTIONAL' | 'REQUIRED'

export const brands = table('publishing.brands', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  description: text.maybe,
  /** Null for an active brand. */
  archivedAt: moment.maybe,
  /** Time zone of the brand's days, a name of the IANA database. */
  timeZone: text.or('UTC'),
  approvalMode: text.of<ApprovalMode>().or('NONE'),
  /** Persons who may approve posts, in addition to the organization's owners and admins. */
  approverIds: texts.or([]),
  /** Start of the pause; null for a brand that is not paused. */
  pausedAt: moment.maybe,
  ...stamps,
})

export type BrandRow = Row<typeof brands>

/**
 * Rejects changes of an archived brand and its records.
 * @throws CONFLICT, reason BRAND_ARCHIVED
 */
export function requireInUse({ archivedAt }: { archivedAt: Date | null }): void {
  if (archivedAt) throw new DomainError('CONFLICT', 'The brand is archived and takes no change: restore it first.', { reason: 'BRAND_ARCHIVED' })
}

const lockMaking = transactionLock('publishing.brands')
const countMade = statement('select count(*)::int as "inAll" from publishing.brands where organization_id = $1')
const shareState = statement(
  'select organization_id as "organizationId", archived_at as "archivedAt", approval_mode as "approvalMode" from publishing.brands where id = $1 for share',
)
const share = statement(`select ${selectList(brands, 'b')} from publishing.brands b where b.id = $1 for share of b`)
const countScheduled = statement(
  `select count(*)::int as count from publishing.posts where brand_id = $1 and (status = 'SCHEDULED' or delivery_phase = 'SENDING')`,
)

/** Returns the statements that only brands have. */
const brandSql = (rows: Rows<typeof brands>, { viewer }: StoreContext) => ({
  /**
   * Counts the brands of an organization, and locks the count: no other brand is created for it before the transaction
   * ends.
   */
  async madeFor(organizationId: string, transaction: Transaction): Promise<Usage> {
    await rows.read(lockMaking, [organizationId], transaction)
    const [made] = await rows.read<{ inAll: number }>(countMade, [organizationId], transaction)
    return { inAll: made!.inAll, today: 0, todaySince: null }
  },

  /**
   * Locks a brand against archiving, moving and a changed approval mode until the transaction ends. Every write to a
   * brand's records calls it.
   * @returns the brand's approval mode
   * @throws CONFLICT, reason BRAND_ARCHIVED; NOT_FOUND for a brand that has moved to another organization since it was
   * read
   */
  async requireInUse(id: string, transaction: Transaction): Promise<ApprovalMode> {
    const [brand] = await rows.read<Pick<BrandRow, 'organizationId' | 'archivedAt' | 'approvalMode'>>(shareState, [id], transaction)
    if (brand && viewer && viewer.organizationId !== brand.organizationId) throw notFound('brand', id)
    if (brand) requireInUse(brand)
    return brand?.approvalMode ?? 'NONE'
  },

  /**
   * Locks a brand against moving to another organization until the transaction ends, and returns it; null when it was
   * deleted.
   */
  async share(id: string, transaction: Transaction): Promise<BrandRow | null> {
    const [brand] = await rows.read<BrandRow>(share, [id], transaction)
    return brand ?? null
  },

  /** Counts the posts that are scheduled or being sent. */
  async scheduled(id: string, transaction: Transaction): Promise<number> {
    const [row] = await rows.read<{ count: number }>(countScheduled, [id], transaction)
    return row!.count
  },
})

export const brandStore = store(
  brands,
  {
    what: 'brand',
    tenancy: { by: 'organizationId' },
    lists: {
      all: { below: 'organizationId', order: 'oldest first' },
      inUse: { below: 'organizationId', order: 'oldest first', only: 't.archived_at is null' },
      archived: { below: 'organizationId', order: 'oldest first', only: 't.archived_at is not null' },
    },
  },
  brandSql,
)
