import { writing } from '../../../store/books.ts'
import { inTransaction, write } from '../../../store/write.ts'
import { requireKept } from '../../stores/parties/customer.ts'
import type { PaymentMethodSessionRow } from '../../stores/parties/payment-method-session.ts'
import { pageRefusal } from '../checkout/open.ts'
import { expiryOf, nextLook } from '../checkout/rules.ts'
import { leaseMs } from '../payment/intention.ts'
import { processorCustomerOf } from './customer.ts'
import { requireRoom } from './rules.ts'
import type { KeepingWork } from './work.ts'

/** A session to open. */
export interface NewMethodSession {
  readonly id: string
  readonly customerId: string
  readonly minutes: number
  readonly successUrl: string
  readonly cancelUrl: string
}

/**
 * Records that a page is about to be opened on which a customer leaves a payment method.
 * @throws CONFLICT, reason CUSTOMER_ERASED, or QUOTA for a customer with as many methods as there may be
 */
export function recordMethodSession(work: KeepingWork, { id, customerId, minutes, ...addresses }: NewMethodSession): Promise<PaymentMethodSessionRow> {
  const { customers, paymentMethods, paymentMethodSessions } = work
  return write(work, {
    async run({ now, transaction }) {
      const customer = (await customers.lock(customerId, transaction)) ?? (await customers.require(customerId, 'customerId'))
      requireKept(customer)
      requireRoom((await paymentMethods.ofCustomer(customerId, transaction)).length)
      const times = { expiresAt: expiryOf(minutes, now), nextLookAt: new Date(now.getTime() + leaseMs), createdAt: now, updatedAt: now }
      const place = { id, customerId, organizationId: customer.organizationId, ...addresses }
      return paymentMethodSessions.insert({ ...place, ...times, createdBy: work[writing].actor }, transaction)
    },
    audit: ({ organizationId }) => ({
      ...{ tenantId: organizationId, action: 'payment_method_session.created', subjectId: id },
      details: { changes: [{ field: 'customerId', before: null, after: customerId }] },
    }),
  })
}

/**
 * Opens a recorded session's page at the processor. Without an answer nobody learns its address, so nobody can leave a card on it: the record is
 * taken back.
 * @throws CONFLICT with the failure as reason, or NO_CREDENTIAL; BUDGET_EXCEEDED; UPSTREAM_FAILED: nothing has changed then
 */
export async function openMethodPage(work: KeepingWork, id: string): Promise<void> {
  const session = await work.paymentMethodSessions.byId.load(id)
  if (!session || session.processorId) return
  try {
    await keepPage(work, session)
  } catch (error) {
    await inTransaction(work, async ({ transaction }) => {
      const held = await work.paymentMethodSessions.lock(id, transaction)
      if (held && !held.processorId) await work.paymentMethodSessions.remove(held, transaction)
    })
    throw pageRefusal(error)
  }
}

async function keepPage(work: KeepingWork, { id, organizationId, customerId, successUrl, cancelUrl, expiresAt }: PaymentMethodSessionRow): Promise<void> {
  const customer = await processorCustomerOf(work, (await work.customers.byId.load(customerId))!)
  const asked = { organizationId, key: id, customer, successUrl, cancelUrl, expiresAt, metadata: { customer_id: customerId, session_id: id } }
  const page = await work.pages.openSetup(asked)
  if (!page) throw new Error('the gateway answered without a page')
  await inTransaction(work, async ({ now, transaction }) => {
    const held = await work.paymentMethodSessions.lock(id, transaction)
    if (!held) throw new Error(`the session ${id} was taken back while its page was opened`)
    const changes = { processorId: page.id, url: page.url, nextLookAt: nextLook(held, now), updatedAt: now }
    await work.paymentMethodSessions.update(held, changes, transaction)
  })
}
