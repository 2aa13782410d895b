import { inTransaction } from '../../../store/write.ts'
import type { CustomerRow } from '../../stores/parties/customer.ts'
import type { KeepingWork } from './work.ts'

/** What the processor calls a customer; one that it does not know is made there first, and its id remembered. */
export async function processorCustomerOf(
  work: Pick<KeepingWork, 'methods' | 'customers'> & Parameters<typeof inTransaction>[0],
  customer: CustomerRow,
): Promise<string> {
  if (customer.processorId) return customer.processorId
  const processorId = await work.methods.makeCustomer(customer)
  await inTransaction(work, async ({ transaction }) => {
    const held = await work.customers.lock(customer.id, transaction)
    if (held && held.processorId === null) await work.customers.update(held, { processorId }, transaction)
  })
  return processorId
}
