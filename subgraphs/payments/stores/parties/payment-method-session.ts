import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { moment, type Row, selectList, stamps, table, text, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

/** How far a session has got. */
export type PaymentMethodSessionStatus = 'OPEN' | 'COMPLETED' | 'EXPIRED'

export const paymentMethodSessions = table('payments.payment_method_sessions', {
  customerId: uuid.key,
  /** Also the key of its call to the processor. */
  id: uuid.key,
  organizationId: uuid,
  status: text.of<PaymentMethodSessionStatus>().or('OPEN'),
  successUrl: text,
  cancelUrl: text,
  /** What the processor calls it: `cs_…`; null until it has answered. */
  processorId: text.maybe,
  /** Where the processor shows its page. */
  url: text.maybe,
  /** The method that came of it; null where none did. */
  paymentMethodId: uuid.maybe,
  expiresAt: moment,
  /** When the processor is asked about it next; null once nothing more can come of it. */
  nextLookAt: moment.maybe,
  ...stamps,
})

export type PaymentMethodSessionRow = Row<typeof paymentMethodSessions>

const byProcessorId = statement(`select ${selectList(paymentMethodSessions, 't')} from payments.payment_method_sessions t where t.processor_id = $1 limit 1`)
// Each organization has its turn, however many of another are due.
const due = statement(
  `select id from (
     select id, next_look_at, row_number() over (partition by organization_id order by next_look_at) as turn
       from payments.payment_method_sessions where next_look_at <= $1
   ) due where turn <= $2 order by turn, next_look_at limit $3`,
)

/** Returns the statements that only these sessions have. */
const sessionSql = (rows: Rows<typeof paymentMethodSessions>) => ({
  /** The session that the processor calls this; null for what is none of ours. */
  async byProcessorId(id: string): Promise<PaymentMethodSessionRow | null> {
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
  async take(id: string, now: Date, until: Date, transaction: Transaction): Promise<PaymentMethodSessionRow | null> {
    const row = await rows.lock(id, transaction)
    if (!row?.nextLookAt || row.nextLookAt > now) return null
    return rows.update(row, { nextLookAt: until }, transaction)
  },
})

export const paymentMethodSessionStore = store(paymentMethodSessions, { what: 'payment method session', tenancy: { by: 'organizationId' } }, sessionSql)

/** Sessions as they are opened for an operation, or for a job. */
export type PaymentMethodSessions = ReturnType<(typeof paymentMethodSessionStore)['open']>
