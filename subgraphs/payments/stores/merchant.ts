import type { Transaction } from 'sequelize'
import { DomainError } from '../../../platform/errors.ts'
import { transactionLock } from '../../../platform/sql/lock.ts'
import { statement } from '../../../platform/sql/statement.ts'
import { type Row, selectList, stamps, table, text, truth, uuid } from '../../../platform/sql/table.ts'
import { type Rows, store } from '../../store/store.ts'

/** Whether a merchant takes new payments. */
export type MerchantStatus = 'ACTIVE' | 'SUSPENDED'

export const merchants = table('payments.merchants', {
  id: uuid.key,
  organizationId: uuid,
  name: text,
  defaultCurrency: text,
  /** Of its organization: what an order without a merchant belongs to. */
  isDefault: truth.or(false),
  legalName: text.maybe,
  /** ISO 3166-1 alpha-2. */
  country: text.maybe,
  status: text.of<MerchantStatus>().or('ACTIVE'),
  /** First part of its invoice numbers, unique in the organization. */
  invoicePrefix: text.or('INV'),
  taxId: text.maybe,
  supportEmail: text.maybe,
  ...stamps,
})

export type MerchantRow = Row<typeof merchants>

const defaultOf = statement(`select id from payments.merchants where organization_id = $1 and is_default`)
const makeDefault = statement(
  `insert into payments.merchants (id, organization_id, name, default_currency, is_default, invoice_prefix, created_at, updated_at, created_by)
   values ($1, $2, $3, $4, true, $5, $6, $6, $7)`,
)
const lockMaking = transactionLock('payments.merchants')
const prefixes = statement('select id, invoice_prefix as prefix from payments.merchants where organization_id = $1')
const share = statement(`select ${selectList(merchants, 't')} from payments.merchants t where t.id = $1 for share of t`)

/** A new default merchant. */
export type NewDefault = Pick<MerchantRow, 'id' | 'organizationId' | 'name' | 'defaultCurrency' | 'createdAt' | 'createdBy'>

/** Returns the statements that only merchants have. */
const merchantSql = (rows: Rows<typeof merchants>) => ({
  /** The id of an organization's default merchant; null before there is one. */
  async defaultOf(organizationId: string, transaction?: Transaction): Promise<string | null> {
    const [found] = await rows.read<{ id: string }>(defaultOf, [organizationId], transaction)
    return found?.id ?? null
  },

  /**
   * Returns the prefixes of an organization's merchants, by merchant. No other merchant of it is made, and no prefix changed, before the
   * transaction ends.
   */
  async prefixesOf(organizationId: string, transaction: Transaction): Promise<ReadonlyMap<string, string>> {
    await rows.read(lockMaking, [organizationId], transaction)
    const found = await rows.read<{ id: string; prefix: string }>(prefixes, [organizationId], transaction)
    return new Map(found.map(({ id, prefix }) => [id, prefix]))
  },

  /** Makes an organization's default merchant unless it has one; hands back the id of whichever it has then. */
  async ensureDefault(fresh: NewDefault, transaction: Transaction): Promise<string> {
    const { id, organizationId, name, defaultCurrency, createdAt, createdBy } = fresh
    // Two processes that make it at once wait for each other here.
    const taken = await this.prefixesOf(organizationId, transaction)
    const known = await this.defaultOf(organizationId, transaction)
    if (known) return known
    const prefix = firstFreePrefix([...taken.values()])
    await rows.read(makeDefault, [id, organizationId, name, defaultCurrency, prefix, createdAt, createdBy], transaction)
    return id
  },

  /** Returns a merchant that nobody changes until the transaction ends; null when there is none. */
  async held(id: string, transaction: Transaction): Promise<MerchantRow | null> {
    const [merchant] = await rows.read(share, [id], transaction)
    return merchant ?? null
  },

  /**
   * Keeps a merchant in its state until the transaction ends: for whatever begins a new payment to it.
   * @throws CONFLICT, reason MERCHANT_SUSPENDED
   */
  async requireActive(id: string, transaction: Transaction): Promise<void> {
    const merchant = await this.held(id, transaction)
    if (merchant) requireActiveMerchant(merchant)
  },
})

export const merchantStore = store(merchants, { what: 'merchant', tenancy: { by: 'organizationId' }, filters: { status: 'eq' } }, merchantSql)

/** Merchants as they are opened for an operation, or for a job. */
export type Merchants = ReturnType<(typeof merchantStore)['open']>

/** Returns the first of `INV`, `INV2`, `INV3` and so on that is not taken. */
export function firstFreePrefix(taken: readonly string[]): string {
  const used = new Set(taken)
  for (let number = 1; ; number += 1) {
    const prefix = number === 1 ? 'INV' : `INV${number}`
    if (!used.has(prefix)) return prefix
  }
}

/** @throws CONFLICT, reason MERCHANT_SUSPENDED, for a merchant that takes no new payment */
export function requireActiveMerchant({ status }: Pick<MerchantRow, 'status'>): void {
  if (status === 'SUSPENDED')
    throw new DomainError('CONFLICT', 'The merchant is suspended and takes no new payment: resume it first.', { reason: 'MERCHANT_SUSPENDED' })
}
