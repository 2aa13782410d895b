import { newId } from '../../../../platform/ids.ts'
import { writing } from '../../../store/books.ts'
import { inTransaction, write } from '../../../store/write.ts'
import type { PaymentMethodRow } from '../../stores/parties/payment-method.ts'
import type { PaymentMethodSessionRow } from '../../stores/parties/payment-method-session.ts'
import type { Page } from '../checkout/processor.ts'
import { maxMethods } from './rules.ts'
import type { KeepingWork, ProcessorMethod } from './work.ts'

/**
 * Records what the processor says of a session, once, however often it says it: the method that was left becomes the customer's. A customer who
 * was erased meanwhile, or has as many as there may be, gets none: it is detached at the processor.
 * @param page as the processor describes it; one that is still open changes nothing
 */
export async function concludeMethodSession(work: KeepingWork, id: string, { status, paymentMethodId: token }: Page): Promise<void> {
  const session = await work.paymentMethodSessions.byId.load(id)
  if (session?.status !== 'OPEN') return
  if (status === 'EXPIRED') await end(work, id, 'EXPIRED')
  if (status !== 'COMPLETE') return
  if (!token) throw new Error(`the processor names no payment method of the session ${id}, which is complete`)
  const customer = await work.customers.byId.clear(session.customerId).load(session.customerId)
  const isKept = customer?.processorId && !customer.erasedAt && (await keep(work, session, await attached(work, session, customer.processorId, token)))
  if (isKept) return
  // Detached first: a process that dies in between does it again.
  await work.methods.detach(session.organizationId, { id, processorId: token })
  await end(work, id, 'COMPLETED')
}

/** The page has attached it: the same once more says what the processor knows of the card. */
const attached = (work: KeepingWork, { id, organizationId }: PaymentMethodSessionRow, customerId: string, token: string): Promise<ProcessorMethod> =>
  work.methods.attach(organizationId, { customerId, token, key: id })

const end = (work: KeepingWork, id: string, status: 'COMPLETED' | 'EXPIRED'): Promise<void> =>
  inTransaction(work, async ({ now, transaction }) => {
    const held = await work.paymentMethodSessions.lock(id, transaction)
    if (held?.status !== 'OPEN') return
    await work.paymentMethodSessions.update(held, { status, nextLookAt: null, version: held.version + 1, updatedAt: now }, transaction)
  })

/** @returns false: the customer takes no method any more */
async function keep(work: KeepingWork, { id, customerId, organizationId }: PaymentMethodSessionRow, method: ProcessorMethod): Promise<boolean> {
  const { customers, paymentMethods, paymentMethodSessions } = work
  let isOver = false
  await write(work, {
    async run({ now, transaction }): Promise<PaymentMethodRow | null> {
      const customer = await customers.lock(customerId, transaction)
      const session = await paymentMethodSessions.lock(id, transaction)
      isOver = session?.status !== 'OPEN'
      if (isOver || !session || !customer || customer.erasedAt) return null
      const others = await paymentMethods.ofCustomer(customerId, transaction)
      if (others.length >= maxMethods) return null
      isOver = true
      const { id: processorId, brand, last4, expMonth, expYear } = method
      const card = { brand: brand?.toLowerCase() ?? null, last4, expMonth, expYear, isDefault: others.length === 0 }
      const stamps = { createdAt: now, updatedAt: now, createdBy: work[writing].actor }
      const row = await paymentMethods.insert({ id: newId(now), customerId, organizationId, processorId, ...card, ...stamps }, transaction)
      const changes = { status: 'COMPLETED', paymentMethodId: row.id, nextLookAt: null, version: session.version + 1, updatedAt: now } as const
      await paymentMethodSessions.update(session, changes, transaction)
      return row
    },
    audit: row =>
      row && {
        ...{ tenantId: organizationId, action: 'payment_method.kept', subjectId: row.id },
        details: { changes: [{ field: 'customerId', before: null, after: customerId }] },
      },
  })
  return isOver
}
