import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid, whole } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'
import type { CaptureMode } from '../admin/settings.ts'
import type { OrderStatus } from '../order.ts'

/** How far a session or a link has got. */
export type CheckoutStatus = 'OPEN' | 'COMPLETED' | 'EXPIRED' | 'CLOSED'

export const checkoutSessions = table('payments.checkout_sessions', {
  merchantId: uuid.key,
  /** Also the key of its call to the processor, and the id of the transaction that its money becomes. */
  id: uuid.key,
  organizationId: uuid,
  orderId: uuid,
  /** The link that opened it; null for one that was asked for. */
  linkId: uuid.maybe,
  status: text.of<CheckoutStatus>().or('OPEN'),
  /** The order's status before it, to which it returns when no page could be opened. */
  statusBefore: text.of<OrderStatus>(),
  amountMinor: whole,
  currency: text,
  /** What payers read. */
  title: text,
  captureMode: text.of<CaptureMode>(),
  successUrl: text,
  cancelUrl: text,
  /** What the processor calls it: `cs_…`; null until it has answered. */
  processorId: text.maybe,
  /** Where the processor shows its page. */
  url: text.maybe,
  expiresAt: moment,
  /** When the processor is asked about it next; null once nothing more can come of it. */
  nextLookAt: moment.maybe,
  ...stamps,
})

export type CheckoutSessionRow = Row<typeof checkoutSessions>

const columns = selectList(checkoutSessions, 't')
const openOf = statement(`select ${columns} from payments.checkout_sessions t where t.order_id = $1 and t.status = 'OPEN' for no key update of t`)
const byProcessorId = statement(`select ${columns} from payments.checkout_sessions t where t.processor_id = $1 limit 1`)
// Each organization has its turn, however many of another are due.
const due = statement(
  `select id from (
     select id, next_look_at, row_number() over (partition by organization_id order by next_look_at) as turn
       from payments.checkout_sessions where next_look_at <= $1
   ) due where turn <= $2 order by turn, next_look_at limit $3`,
)

/** Returns the statements that only sessions have. */
const sessionSql = (rows: Rows<typeof checkoutSessions>) => ({
  /** Locks the open session of an order, which is locked; null when none is open. */
  async openOf(orderId: string, transaction: Transaction): Promise<CheckoutSessionRow | null> {
    return (await rows.read(openOf, [orderId], transaction))[0] ?? null
  },

  /** The session that the processor calls this; null for what is none of ours. */
  async byProcessorId(id: string): Promise<CheckoutSessionRow | null> {
    return (await rows.read(byProcessorId, [id]))[0] ?? null
  },

  /** Ids of those that the processor is to be asked about by now, so many of an organization and together. */
  async due(now: Date, perOrganization: number, limit: number): Promise<readonly string[]> {
    return (await rows.read<{ id: string }>(due, [now, perOrganization, limit])).map(({ id }) => id)
  },

  /**
   * Takes one that is due for this process: until `until` no other asks about it.
   * @returns null when another process was quicker, or nothing more can come of it
   */
  async take(id: string, now: Date, until: Date, transaction: Transaction): Promise<CheckoutSessionRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextLookAt || row.nextLookAt > now) return null
    return rows.update(row, { nextLookAt: until }, transaction)
  },
})

export const checkoutSessionStore = store(checkoutSessions, { what: 'checkout session', tenancy: { by: 'organizationId' } }, sessionSql)

/** Sessions as they are opened for an operation, or for a job. */
export type CheckoutSessions = ReturnType<(typeof checkoutSessionStore)['open']>
