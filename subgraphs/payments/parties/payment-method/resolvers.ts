import { DomainError } from '../../../../platform/errors.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { type Hold, makeHeld } from '../../../store/claim.ts'
import { notFound } from '../../../store/store.ts'
import { change, remove, write } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { processorCustomerOf } from '../../engines/keeping/customer.ts'
import { requireRoom } from '../../engines/keeping/rules.ts'
import type { ProcessorMethod } from '../../engines/keeping/work.ts'
import { readToken } from '../../engines/payment/processor.ts'
import type { AddPaymentMethodInput, Resolvers, SetDefaultPaymentMethodInput } from '../../resolvers.generated.ts'
import { type CustomerRow, requireKept } from '../../stores/parties/customer.ts'
import type { PaymentMethodRow } from '../../stores/parties/payment-method.ts'
import { attachMethod, detachMethod } from './processor.ts'

const line = (action: string, { id, organizationId, customerId }: PaymentMethodRow) => ({
  tenantId: organizationId,
  action,
  subjectId: id,
  details: { changes: [{ field: 'customerId', before: null, after: customerId }] },
})

/** Keeps a method at the processor first, then here: a process that dies in between repeats the same request there. */
async function addMethod(context: Context, input: AddPaymentMethodInput): Promise<PaymentMethodRow> {
  const { viewer, customers, paymentMethods } = context
  const tenantId = activeOrganization(viewer, 'Payment methods')
  const token = readToken(input.token)
  const customer = await customers.require(input.customerId, 'customerId')
  requireKept(customer)
  const { row } = await makeHeld<PaymentMethodRow>(context, {
    what: 'addPaymentMethod',
    once: input,
    tenantId,
    find: id => paymentMethods.byId.load(id),
    async make(hold) {
      requireRoom((await paymentMethods.manyBy('customerId').load(customer.id)).length)
      const customerId = await processorCustomerOf(context, customer)
      const attached = await attachMethod(context, tenantId, { customerId, token, key: hold.id })
      return keep(context, { customer, attached, isDefault: input.isDefault === true, hold })
    },
  })
  return row
}

interface Attached {
  readonly customer: CustomerRow
  readonly attached: ProcessorMethod
  readonly isDefault: boolean
  readonly hold: Hold
}

async function keep(context: Context, { customer: { id: customerId, organizationId }, attached, isDefault, hold }: Attached): Promise<PaymentMethodRow> {
  const { viewer, customers, paymentMethods } = context
  const { id: processorId, brand, last4, expMonth, expYear } = attached
  const card = { brand: brand?.toLowerCase() ?? null, last4, expMonth, expYear }
  try {
    return await write(context, {
      async run(unit) {
        const { transaction, now } = unit
        const customer = await customers.lock(customerId, transaction)
        if (!customer) throw notFound('customer', customerId)
        requireKept(customer)
        const others = await paymentMethods.ofCustomer(customerId, transaction)
        requireRoom(others.length)
        const becomesDefault = isDefault || others.length === 0
        if (becomesDefault) await paymentMethods.clearDefault(customerId, now, transaction)
        const stamps = { createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }
        await hold.end(unit)
        return paymentMethods.insert({ id: hold.id, customerId, organizationId, processorId, ...card, isDefault: becomesDefault, ...stamps }, transaction)
      },
      audit: row => line('payment_method.added', row),
    })
  } catch (error) {
    // Nobody could charge it, or remove it, from here. Whatever else failed, another process may be writing the same method.
    if (isOwnRefusal(error)) await detachMethod(context, organizationId, { id: hold.id, processorId }).catch(() => {})
    throw error
  }
}

const isOwnRefusal = (error: unknown): boolean => error instanceof DomainError && ['CUSTOMER_ERASED', 'QUOTA'].includes(String(error.extensions.reason))

async function removeMethod(context: Context, id: string): Promise<PaymentMethodRow> {
  const { customers, paymentMethods } = context
  const method = await paymentMethods.require(id)
  const { customerId, organizationId } = method
  await detachMethod(context, organizationId, method)
  return remove(context, {
    of: paymentMethods,
    id: method.id,
    before: async ({ transaction }) => void (await customers.lock(customerId, transaction)),
    audit: row => line('payment_method.removed', row),
    async wake(row, unit) {
      if (row.isDefault) await promoteNewest(context, customerId, unit)
    },
  })
}

async function promoteNewest({ paymentMethods }: Context, customerId: string, { transaction }: WriteTransaction): Promise<void> {
  const newest = (await paymentMethods.ofCustomer(customerId, transaction)).at(-1)
  if (newest) await paymentMethods.update(newest, { isDefault: true }, transaction)
}

async function setDefault(context: Context, input: SetDefaultPaymentMethodInput): Promise<PaymentMethodRow> {
  const { customers, paymentMethods, viewer } = context
  const { id, customerId } = await paymentMethods.require(input.id)
  return change(context, {
    of: paymentMethods,
    id,
    once: { what: 'setDefaultPaymentMethod', tenantId: activeOrganization(viewer, 'Payment methods'), input },
    before: async ({ transaction }) => void (await customers.lock(customerId, transaction)),
    async decide({ isDefault }, { now, transaction }) {
      if (!isDefault) await paymentMethods.clearDefault(customerId, now, transaction)
      return { isDefault: true }
    },
    audit: ({ after }) => line('payment_method.made_default', after),
  })
}

export const paymentMethodResolvers: Resolvers = {
  Mutation: {
    addPaymentMethod: (_, { input }, context) => addMethod(context, input),
    removePaymentMethod: (_, { input }, context) => removeMethod(context, input.id),
    setDefaultPaymentMethod: (_, { input }, context) => setDefault(context, input),
  },
  PaymentMethod: { __resolveReference: ({ id }, { paymentMethods }) => paymentMethods.byId.load(id) },
}
