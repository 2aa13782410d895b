import { idOfName } from '../../../platform/ids.ts'
import { inTransaction } from '../../store/write.ts'
import type { Job } from '../context.ts'
import { processorCustomerOf } from '../engines/keeping/customer.ts'
import { attachMethod } from './payment-method/processor.ts'

const [venueName, customerName] = ['Demo Venue', 'Demo Customer']

/** Whose demo it is, and at which merchant. */
export interface DemoPlace {
  readonly organizationId: string
  readonly userId: string
  readonly merchantId: string
}

/** Makes the demo's venue and customer where they are missing. @param job in the owner's name */
export async function provideDemoParties(
  job: Job,
  { organizationId, userId, merchantId }: DemoPlace,
): Promise<{ readonly venueId: string; readonly customerId: string }> {
  const { customers, merchants, venues } = job
  const [venueId, customerId] = [idOfName(merchantId, venueName), idOfName(organizationId, customerName)]
  const createdBy = `user:${userId}`
  await inTransaction(job, async ({ transaction, now }) => {
    // Another process that starts at the same moment waits here, and finds everything.
    await merchants.lock(merchantId, transaction)
    const stamps = { createdAt: now, updatedAt: now, createdBy }
    const address = { line1: 'Marktplatz 1', line2: null, city: 'Berlin', postalCode: '10115', country: 'DE' }
    if (!(await venues.lock(venueId, transaction)))
      await venues.insert({ id: venueId, merchantId, organizationId, name: venueName, address, timeZone: 'Europe/Berlin', ...stamps }, transaction)
    if (!(await customers.lock(customerId, transaction)))
      await customers.insert({ id: customerId, organizationId, name: customerName, email: 'customer@demo.test', ...stamps }, transaction)
  })
  return { venueId, customerId }
}

/**
 * Gives the demo's customer a card of the sandbox, unless it has one or was erased. Needs the gateway's credential of the processor.
 * @throws as the gateway does: no start depends on it, and the next one tries again
 */
export async function provideDemoCard(job: Job, customerId: string): Promise<void> {
  const { customers, paymentMethods } = job
  const customer = await customers.byId.clear(customerId).load(customerId)
  const methods = await paymentMethods.manyBy('customerId').clear(customerId).load(customerId)
  if (!customer || customer.erasedAt || methods.length > 0) return
  const { organizationId, createdBy } = customer
  const id = idOfName(customerId, 'card')
  const processorId = await processorCustomerOf(job, customer)
  const method = await attachMethod(job, organizationId, { customerId: processorId, token: 'pm_card_visa', key: id })
  await inTransaction(job, async ({ transaction, now }) => {
    const held = await customers.lock(customerId, transaction)
    if (!held || held.erasedAt || (await paymentMethods.lock(id, transaction))) return
    await customers.update(held, { processorId }, transaction)
    const { brand, last4, expMonth, expYear } = method
    const card = { brand: brand?.toLowerCase() ?? null, last4, expMonth, expYear }
    const stamps = { createdAt: now, updatedAt: now, createdBy }
    await paymentMethods.insert({ id, customerId, organizationId, processorId: method.id, ...card, isDefault: true, ...stamps }, transaction)
  })
}
