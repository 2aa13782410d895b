import type { Transaction } from 'sequelize'
import { statement } from '../../../platform/sql/statement.ts'
import { type Row, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

export const merchants = table('payments.merchants', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  defaultCurrency: text,
  /** Of its organization: what an order without a merchant belongs to. */
  isDefault: truth.or(false),
  ...stamps,
})

export type MerchantRow = Row<typeof merchants>

const defaultOf = statement(`select id from payments.merchants where organization_id = $1 and is_default`)
// Whoever makes the other one at the same moment is waited for, and then that one is it.
const makeDefault = statement(
  `insert into payments.merchants (id, organization_id, name, default_currency, is_default, created_at, updated_at, created_by)
   values ($1, $2, $3, $4, true, $5, $5, $6)
   on conflict (organization_id) where is_default do nothing`,
)

/** A new default merchant. */
export type NewDefault = Pick<MerchantRow, 'id' | 'organizationId' | 'name' | 'defaultCurrency' | 'createdAt' | 'createdBy'>

/** What only merchants are asked. */
const merchantSql = (rows: Rows<typeof merchants>) => ({
  /** The id of an organization's default merchant; null before there is one. */
  async defaultOf(organizationId: string, transaction?: Transaction): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(defaultOf, [organizationId], transaction)
    return found?.id ?? null
  },

  /** Makes an organization's default merchant unless it has one; hands back the id of whichever it has then. */
  async ensureDefault({ id, organizationId, name, defaultCurrency, createdAt, createdBy }: NewDefault, transaction: Transaction): Promise<string> {
    await rows.read(makeDefault, [id, organizationId, name, defaultCurrency, createdAt, createdBy], transaction)
    const [found] = await rows.read<{ id: string }>(defaultOf, [organizationId], transaction)
    return found!.id
  },
})

export const merchantStore = store(merchants, { what: 'merchant', tenancy: { by: 'organizationId' } }, merchantSql)
