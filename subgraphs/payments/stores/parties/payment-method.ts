import type { Transaction } from 'sequelize'
import { statement } from '../../../../platform/sql/statement.ts'
import { integer, type Row, selectList, stamps, table, text, truth, uuid } from '../../../../platform/sql/table.ts'
import { type Rows, store } from '../../../store/store.ts'

export const paymentMethods = table('payments.payment_methods', {
  customerId: uuid.key,
  id: uuid.key,
  organizationId: uuid,
  /** The processor's token: no field, log line or audit entry shows it. */
  processorId: text,
  brand: text.maybe,
  last4: text.maybe,
  expMonth: integer.maybe,
  expYear: integer.maybe,
  isDefault: truth.or(false),
  ...stamps,
})

export type PaymentMethodRow = Row<typeof paymentMethods>

const ofCustomer = statement(`select ${selectList(paymentMethods, 't')} from payments.payment_methods t where t.customer_id = $1 order by t.created_at, t.id`)
const clearDefault = statement(
  'update payments.payment_methods set is_default = false, version = version + 1, updated_at = $2 where customer_id = $1 and is_default',
)
const removeAll = statement('delete from payments.payment_methods where customer_id = $1')

/** Returns the statements that only payment methods have. All of it happens while the customer is locked. */
const methodSql = (rows: Rows<typeof paymentMethods>) => ({
  /** Returns the methods of a customer, oldest first. */
  ofCustomer: (customerId: string, transaction: Transaction): Promise<PaymentMethodRow[]> => rows.read(ofCustomer, [customerId], transaction),

  /** Leaves a customer without a default method, so that another can become it. */
  async clearDefault(customerId: string, now: Date, transaction: Transaction): Promise<void> {
    await rows.read(clearDefault, [customerId, now], transaction)
  },

  /** Removes every method of a customer. */
  async removeAll(customerId: string, transaction: Transaction): Promise<void> {
    await rows.read(removeAll, [customerId], transaction)
  },
})

export const paymentMethodStore = store(
  paymentMethods,
  {
    what: 'payment method',
    tenancy: { by: 'organizationId' },
    manyBy: { customerId: 't.created_at, t.id' },
  },
  methodSql,
)

/** Methods as they are opened for an operation, or for a job. */
export type PaymentMethods = ReturnType<(typeof paymentMethodStore)['open']>
