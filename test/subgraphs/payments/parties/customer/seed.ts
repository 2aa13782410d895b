import { newId } from '../../../../../platform/ids.ts'
import type { CustomerRow } from '../../../../../subgraphs/payments/stores/parties/customer.ts'
import type { PaymentMethodRow } from '../../../../../subgraphs/payments/stores/parties/payment-method.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

type Place = Pick<Supergraph, 'clock' | 'platform'>

/** Lets payments have its calls made at the gateway, as a client of it. */
export const seedClient = ({ clock, rows }: Pick<Supergraph, 'clock' | 'rows'>) =>
  rows(
    `insert into providers.service_clients (id, app_id, name, operations, active, created_at, updated_at, created_by)
     values ($1, 'app_payments', 'Payments', '{PAYMENTS,TRANSFERS}', true, $2, $2, 'test') on conflict do nothing`,
    [newId(clock.now()), clock.now()],
  )

/** A customer, past every rule. */
export async function seedCustomer(
  { clock, platform }: Place,
  { organizationId, ...more }: { organizationId: string } & Partial<CustomerRow>,
): Promise<CustomerRow> {
  const now = clock.now()
  const job = platform.payments.job('user:x')
  const row = { id: newId(now), organizationId, name: 'A customer', createdAt: now, updatedAt: now, createdBy: 'user:x', ...more }
  return inTransaction(job, ({ transaction }) => job.customers.insert(row, transaction))
}

/** A payment method that the processor does not know, past every rule. */
export async function seedMethod({ clock, platform }: Place, { id: customerId, organizationId }: CustomerRow): Promise<PaymentMethodRow> {
  const now = clock.now()
  const job = platform.payments.job('user:x')
  const id = newId(now)
  const card = { brand: 'visa', last4: '4242', expMonth: 12, expYear: 2034 }
  const row = { id, customerId, organizationId, processorId: `pm_${id}`, ...card, createdAt: now, updatedAt: now, createdBy: 'user:x' }
  return inTransaction(job, ({ transaction }) => job.paymentMethods.insert(row, transaction))
}
