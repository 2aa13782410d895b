import type { Transaction } from 'sequelize'
import { transactionLock } from '../../../../platform/sql/lock.ts'
import { statement } from '../../../../platform/sql/statement.ts'
import { type Row, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** Addresses that get no more mail from an organization. */
export const emailSuppressions = table('providers.email_suppressions', {
  organizationId: uuid.key,
  id: uuid.key,
  /** Address in lower case. */
  address: text,
  reason: text,
  ...stamps,
})

export type EmailSuppressionRow = Row<typeof emailSuppressions>

const among = statement('select address from providers.email_suppressions where organization_id = $1 and address = any($2::text[])')
const ensure = statement(
  `insert into providers.email_suppressions (organization_id, id, address, reason, created_at, updated_at, created_by) values ($1, $2, $3, $4, $5, $5, $6)
   on conflict (organization_id, address) do nothing returning id`,
)
const lockOwner = transactionLock('providers.suppressions')
const countOf = statement(
  `select count(*)::int as "inAll", count(*) filter (where address = $2)::int as alike from providers.email_suppressions where organization_id = $1`,
)

function suppressionSql(rows: Rows<typeof emailSuppressions>) {
  return {
    /** Returns which of these addresses are suppressed. @param addresses in lower case */
    async among(organizationId: string, addresses: readonly string[], transaction?: Transaction): Promise<ReadonlySet<string>> {
      const found = await rows.read<{ address: string }>(among, [organizationId, addresses], transaction)
      return new Set(found.map(({ address }) => address))
    },

    /** Suppresses an address. @returns whether it was not suppressed before */
    async ensure(row: Pick<EmailSuppressionRow, 'organizationId' | 'id' | 'address' | 'reason' | 'createdAt' | 'createdBy'>, transaction: Transaction) {
      const { organizationId, id, address, reason, createdAt, createdBy } = row
      return (await rows.read(ensure, [organizationId, id, address, reason, createdAt, createdBy], transaction)).length > 0
    },

    /**
     * Counts an organization's suppressions, and whether this address is one. Nobody adds another one for it before the
     * transaction ends.
     */
    async countOf(organizationId: string, address: string, transaction: Transaction) {
      await rows.read(lockOwner, [organizationId], transaction)
      const [found] = await rows.read<{ inAll: number; alike: number }>(countOf, [organizationId, address], transaction)
      return found!
    },
  }
}

export const suppressionStore = store(
  emailSuppressions,
  { what: 'suppression', tenancy: { by: 'organizationId' }, lists: { all: { below: 'organizationId', order: 'newest first' } } },
  suppressionSql,
)
