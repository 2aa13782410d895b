import { readText } from '../../../../platform/ids.ts'
import { change, create } from '../../../store/write.ts'
import { activeOrganization, actorOf } from '../../../viewer.ts'
import { changesOf } from '../../admin/audit/rules.ts'
import type { Context } from '../../context.ts'
import type { CreateCustomerInput, EraseCustomerInput, Resolvers, UpdateCustomerInput } from '../../resolvers.generated.ts'
import type { CustomerRow } from '../../stores/parties/customer.ts'
import type { PaymentMethodRow } from '../../stores/parties/payment-method.ts'
import { detachMethod } from '../payment-method/processor.ts'
import { editCustomer, eraseCustomer, max, readCustomer } from './rules.ts'

/** Fields that the audit log names: without their values, for the log is kept for ever and a customer can be erased. */
const audited = ['name', 'email', 'reference', 'userId', 'metadata'] as const

const line = (action: string, before: CustomerRow | null, after: CustomerRow) => ({
  tenantId: after.organizationId,
  action,
  subjectId: after.id,
  details: { changes: changesOf(before, after, audited, audited) },
})

async function makeCustomer(context: Context, input: CreateCustomerInput): Promise<CustomerRow> {
  const { viewer, customers } = context
  const organizationId = activeOrganization(viewer, 'Customers')
  const fields = readCustomer(input)
  const { row } = await create(context, {
    of: customers,
    once: input,
    tenantId: organizationId,
    run: ({ now }, id) => ({ id, organizationId, ...fields, createdAt: now, updatedAt: now, createdBy: actorOf(viewer) }),
    audit: row => line('customer.created', null, row),
  })
  return row
}

const updateCustomer = (context: Context, input: UpdateCustomerInput): Promise<CustomerRow> =>
  change(context, {
    of: context.customers,
    id: input.id,
    expectedVersion: input.expectedVersion,
    once: { what: 'updateCustomer', tenantId: activeOrganization(context.viewer, 'Customers'), input },
    decide: customer => editCustomer(customer, input),
    audit: ({ before, after }) => line('customer.updated', before, after),
  })

/** Detaches the methods first: what fails there leaves everything as it was, and the call can be repeated. */
async function erase(context: Context, input: EraseCustomerInput): Promise<CustomerRow> {
  const { viewer, customers, paymentMethods } = context
  const tenantId = activeOrganization(viewer, 'Customers')
  const { id } = await customers.require(input.id)
  const methods = await paymentMethods.manyBy('customerId').load(id)
  await Promise.all(methods.map(method => detachMethod(context, tenantId, method)))
  let late: readonly PaymentMethodRow[] = []
  const erased = await change(context, {
    of: customers,
    id,
    expectedVersion: input.expectedVersion,
    once: { what: 'eraseCustomer', tenantId, input },
    async decide(customer, { now, transaction }) {
      late = (await paymentMethods.ofCustomer(id, transaction)).filter(method => !methods.some(known => known.id === method.id))
      await paymentMethods.removeAll(id, transaction)
      return eraseCustomer(customer, now)
    },
    audit: ({ before, after }) => line('customer.erased', before, after),
    // The answer lists the methods as they are now.
    announce: () => void paymentMethods.manyBy('customerId').clear(id),
  })
  // Kept at this very moment.
  await Promise.all(late.map(method => detachMethod(context, tenantId, method)))
  return erased
}

export const customerResolvers: Resolvers = {
  Query: {
    customer: (_, { id }, { customers }) => customers.require(id),
    customers: async (_, { search, ...page }, { viewer, customers }) => {
      activeOrganization(viewer, 'Customers')
      return customers.filtered({ search: readText(search, 'search', max.search) }, page)
    },
  },
  Mutation: {
    createCustomer: (_, { input }, context) => makeCustomer(context, input),
    updateCustomer: (_, { input }, context) => updateCustomer(context, input),
    eraseCustomer: (_, { input }, context) => erase(context, input),
  },
  Customer: {
    __resolveReference: ({ id }, { customers }) => customers.byId.load(id),
    user: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
    paymentMethods: ({ id }, _, { paymentMethods }) => paymentMethods.manyBy('customerId').load(id),
    orders: ({ id }, page, { orders }) => orders.page('ofCustomer', id, page),
  },
  Order: {
    customer: ({ customerId }, _, { customers }) => customers.find(customerId),
  },
}
