import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { CheckoutStatus } from './session.ts'

export const paymentLinks = table('payments.payment_links', {
  merchantId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  orderId: uuid,
  /** The last part of its address, which nobody can guess. */
  token: text,
  status: text.of<CheckoutStatus>().or('OPEN'),
  expiresAt: moment,
  ...stamps,
})

export type PaymentLinkRow = Row<typeof paymentLinks>

const byToken = statement(`select ${selectList(paymentLinks, 't')} from payments.payment_links t where t.token = $1`)
const hasOpen = statement(`select 1 as one from payments.payment_links where order_id = $1 and status = 'OPEN' and id is distinct from $2 limit 1`)
const endAll = statement(
  `update payments.payment_links set status = $2, version = version + 1, updated_at = $3 where order_id = $1 and status = 'OPEN' returning id`,
)
const expired = statement(`select id from payments.payment_links where status = 'OPEN' and expires_at <= $1 order by expires_at limit $2`)

/** Returns the statements that only links have. */
const linkSql = (rows: Rows<typeof paymentLinks>) => ({
  /** The link with this token; null when there is none. */
  async byToken(token: string): Promise<PaymentLinkRow | null> {
    return (await rows.read(byToken, [token]))[0] ?? null
  },

  /** Whether an order, which is locked, has an open link besides the one that is named. */
  async hasOpen(orderId: string, besides: string | null, transaction: Transaction): Promise<boolean> {
    return (await rows.read(hasOpen, [orderId, besides], transaction)).length > 0
  },

  /** Ends every open link of an order, which is locked. @returns how many there were */
  async endAll(orderId: string, status: CheckoutStatus, now: Date, transaction: Transaction): Promise<number> {
    return (await rows.read(endAll, [orderId, status, now], transaction)).length
  },

  /** Ids of open links whose time is over, the first of them first. */
  async expired(now: Date, limit: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(expired, [now, limit])).map(({ id }) => id)
  },
})

export const paymentLinkStore = store(paymentLinks, { what: 'payment link', tenancy: { by: 'organizationId' }, filters: { orderId: 'eq' } }, linkSql)

/** Links as they are opened for an operation, or for a job. */
export type PaymentLinks = ReturnType<(typeof paymentLinkStore)['open']>
