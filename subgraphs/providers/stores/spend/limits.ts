import type { Transaction } from 'sequelize'
import { DomainError } from '../../../../platform/errors.ts'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { selectList } from '../../../../platform/sql/table.ts'
import { oldestFirst } from '../../../store/filter/filters.ts'
import { type Rows, type StoreContext, store } from '../../../store/store.ts'
import { type Level, ofLevel, ownOrPlatforms } from '../credential/credential.ts'
import { counts } from './books.ts'
import { type SpendLimitRow, spendLimits } from './limit.ts'

const columns = selectList(spendLimits, 'l')
const levelOf = statement('select level from providers.spend_limits where id = $1')
const lockOwner = transactionLock('providers.spend_limits')
const countOf = statement(
  `select count(*) filter (where not is_default)::int as "inAll", count(*) filter (where scope_type = $2 and scope_value = $3 and period = $4)::int as alike
     from providers.spend_limits where organization_id is not distinct from $1::uuid`,
)
const removeDefault = statement(
  `delete from providers.spend_limits l
    where owner_id = '00000000-0000-0000-0000-000000000000' and scope_type = 'PLATFORM_CREDENTIALS' and scope_value = $1 and is_default returning ${columns}`,
)
const ofUser = statement(
  `with k as (
     select id from providers.spend_limits where organization_id = $1 and scope_type = 'USER' and scope_value = $2 order by id for update)
   delete from providers.spend_limits l using k where l.id = k.id returning ${columns}`,
)

/** Owner, scope and period of a limit. */
export type Placed = Pick<SpendLimitRow, 'organizationId' | 'scopeType' | 'scopeValue' | 'period'>

export const limitIsThere = ({ scopeType, period }: Placed): DomainError =>
  new DomainError('CONFLICT', `There is a limit of this scope (${scopeType}) and period (${period}) already: change that one, or remove it first.`, {
    field: 'scopeValue',
  })

/** Queries of limits only. */
function limitSql(rows: Rows<typeof spendLimits>, { sequelize }: StoreContext) {
  return {
    /** Returns the level of a limit, without a check of the viewer; null if unknown. */
    async levelOf(id: string): Promise<Level | null> {
      const [found] = await rows.read<{ level: Level }>(levelOf, [id])
      return found?.level ?? null
    },

    /**
     * Counts an owner's limits, and those with this scope and period. No other limit is created for the owner before
     * the transaction ends.
     */
    async ofOwner(place: Placed, transaction: Transaction): Promise<{ readonly inAll: number; readonly alike: number }> {
      const { organizationId, scopeType, scopeValue, period } = place
      await rows.read(lockOwner, [organizationId ?? 'platform'], transaction)
      const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [organizationId, scopeType, scopeValue, period], transaction)
      return found!
    },

    /** Returns the spending of the scope since the period began. */
    spentBefore: (place: Placed & Pick<SpendLimitRow, 'since'>, transaction: Transaction): Promise<bigint> => counts.spent(sequelize, place, transaction),

    /**
     * Removes the default limit on the platform's credentials, before a person sets another one. @returns null when
     * there was none
     */
    async removeDefault(organizationId: string, transaction: Transaction): Promise<SpendLimitRow | null> {
      const [removed] = await rows.read(removeDefault, [organizationId], transaction)
      return removed ?? null
    },

    /** Removes the limits of a person in an organization. */
    removeOfUser: (organizationId: string, userId: string, transaction: Transaction): Promise<SpendLimitRow[]> =>
      rows.read(ofUser, [organizationId, userId], transaction),
  }
}

/**
 * An organization sees its own limits and the one on its spending with the platform's credentials; platform admins see
 * all of the platform's limits.
 */
export const spendLimitStore = store(
  spendLimits,
  {
    what: 'spend limit',
    tenancy: { where: `${ownOrPlatforms} or t.scope_type = 'PLATFORM_CREDENTIALS' and t.tenant_id = :organization` },
    filters: { level: ofLevel, scopeType: 'eq' },
    sorted: oldestFirst,
    lists: { all: { below: 'organizationId', order: 'oldest first' } },
  },
  limitSql,
)
