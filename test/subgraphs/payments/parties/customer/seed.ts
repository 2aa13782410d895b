import { newId } from '../../../../../platform/ids.ts'
import type { CustomerRow } from '../../../../../subgraphs/payments/stores/parties/customer.ts'
import type { PaymentMethodRow } from '../../../../../subgraphs/payments/stores/parties/payment-method.ts'
import type { PaymentMethodSessionRow } from '../../../../../subgraphs/payments/stores/parties/payment-method-session.ts'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'

type Place = Pick<Supergraph, 'clock' | 'platform'>

/** Lets payments have its calls made at the gateway, as a client of it. */
export const seedClient = ({ clock, rows }: Pick<Supergraph, 'clock' | 'rows'>) =>
  rows(
    `insert into providers.service_clients (id, app_id, name, operations, active, created_at, updated_at, created_by)
     values ($1, 'app_payments', 'Payments', '{EMAIL,PAYMENTS,TRANSFERS}', true, $2, $2, 'test') on conflict do nothing`,
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

/** An open session whose page the processor does not know, past every rule. @param more what differs from that */
export async function seedMethodSession(
  { clock, platform }: Place,
  { id: customerId, organizationId }: CustomerRow,
  more: Partial<PaymentMethodSessionRow> = {},
): Promise<PaymentMethodSessionRow> {
  const now = clock.now()
  const job = platform.payments.job('user:x')
  const pages = { successUrl: 'https://shop.example/kept', cancelUrl: 'https://shop.example/back', url: 'https://pay.example/cs_test_1' }
  const times = { expiresAt: new Date(now.getTime() + 3_600_000), createdAt: now, updatedAt: now }
  const row = { id: newId(now), customerId, organizationId, ...pages, processorId: 'cs_test_1', ...times, createdBy: 'user:x', ...more }
  return inTransaction(job, ({ transaction }) => job.paymentMethodSessions.insert(row, transaction))
}
