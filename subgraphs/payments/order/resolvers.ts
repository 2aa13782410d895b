import { DomainError } from '../../../platform/errors.ts'
import { mapEvents } from '../../../platform/events.ts'
import { newId, readId, readText } from '../../../platform/ids.ts'
import { requireQuota } from '../../../platform/limit.ts'
import { exponents } from '../../currencies.ts'
import { change, create } from '../../store/write.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { announceOrder, orderTopic } from '../engines/payment/announce.ts'
import { dueOf, refundableOf, requireMove } from '../engines/payment/moves.ts'
import type { CreateOrderInput, Resolvers, UpdateOrderInput } from '../resolvers.generated.ts'
import type { InvoiceRow } from '../stores/invoicing/invoice.ts'
import type { OrderRow } from '../stores/order.ts'
import { requireKept } from '../stores/parties/customer.ts'
import { requireActiveVenue, type VenueRow } from '../stores/parties/venue.ts'
import { shownFailure } from '../transaction/failure.ts'
import { shownLines } from './lines.ts'
import { readMetadata, readMetadataFilter } from './metadata.ts'
import { cancelOrder, captureOrder, payOrder, voidOrder } from './payments.ts'
import { most, workOut } from './rules.ts'

/** Writes an order as a draft; once for each key. */
async function createOrder(context: Context, input: CreateOrderInput): Promise<OrderRow> {
  const { viewer, orders, merchants, events, quotas } = context
  const organizationId = activeOrganization(viewer, 'Orders')
  const amounts = workOut(input.lines)
  const words = {
    description: readText(input.description, 'description', most.description),
    reference: readText(input.reference, 'reference', most.reference),
    metadata: readMetadata(input.metadata) ?? [],
  }
  const merchant = input.merchantId === null || input.merchantId === undefined ? null : await merchants.require(input.merchantId, 'merchantId')
  const parties = await partiesOf(context, input)
  const known = merchant?.id ?? (await merchants.defaultOf(organizationId))
  const name = known ? '' : await context.nameOf(viewer)
  const createdBy = actorOf(viewer)
  const { row } = await create(context, {
    of: orders,
    once: input,
    tenantId: organizationId,
    async run({ transaction, now }, id) {
      const written = await orders.madeBy(createdBy, now, quotas.ordersADay, transaction)
      requireQuota(written, { inAll: Number.POSITIVE_INFINITY, aDay: quotas.ordersADay }, 'orders that you wrote', 'wait', now)
      const stamps = { createdAt: now, createdBy }
      const fresh = { id: newId(now), organizationId, name, defaultCurrency: input.currency, ...stamps }
      const merchantId = known ?? (await merchants.ensureDefault(fresh, transaction))
      if (parties.venue) requireVenueOf(parties.venue, merchantId)
      const { currency } = input
      const place = { id, merchantId, organizationId, currency, userId: viewer.userId, updatedAt: now, ...stamps }
      // Last, for whoever writes the next order of the organization waits from here on.
      return { ...place, ...words, ...amounts, ...parties.ids, number: await orders.nextNumber(organizationId, transaction) }
    },
    audit: ({ id, merchantId }) => ({ tenantId: merchantId, action: 'order.created', subjectId: id }),
    announce: order => announceOrder(events, order),
  })
  return row
}

/** Changes a draft, or the metadata of any order; once for each key. */
async function updateOrder(context: Context, input: UpdateOrderInput): Promise<OrderRow> {
  const { viewer, orders, events } = context
  const tenantId = activeOrganization(viewer, 'Orders')
  const { id, expectedVersion, lines, description, reference, customerId } = input
  const metadata = readMetadata(input.metadata)
  const customer = customerId ? await context.customers.require(customerId, 'customerId') : null
  if (customer) requireKept(customer)
  const changes: Partial<OrderRow> = {
    ...(lines && workOut(lines)),
    ...(description !== undefined && { description: readText(description, 'description', most.description) }),
    ...(reference !== undefined && { reference: readText(reference, 'reference', most.reference) }),
    ...(customerId !== undefined && { customerId: customer?.id ?? null }),
    ...(metadata && { metadata }),
  }
  const isMetadataAlone = Object.keys(changes).join() === 'metadata'
  return change(context, {
    of: orders,
    ...{ id, expectedVersion, once: { what: 'updateOrder', tenantId, input } },
    async decide(order, { transaction }) {
      if (!isMetadataAlone) requireMove(order, 'update')
      if (lines || customerId !== undefined) requireNotIssued(await context.invoices.lockOfOrder(order.id, transaction))
      return changes
    },
    audit: ({ after }) => ({ tenantId: after.merchantId, action: 'order.updated', subjectId: after.id, details: { fields: Object.keys(changes) } }),
    announce: ({ after }) => announceOrder(events, after),
  })
}

/** @throws CONFLICT, reason ALREADY_INVOICED, where an invoice was issued that says what is paid, and by whom */
function requireNotIssued(invoice: InvoiceRow | null): void {
  if (invoice?.status !== 'FINALIZED') return
  throw new DomainError('CONFLICT', 'An invoice of the order was issued: void it, and write another.', { reason: 'ALREADY_INVOICED', invoiceId: invoice.id })
}

/** Who pays, and where it is sold. @throws NOT_FOUND for an id of another organization; CONFLICT for an erased customer and an archived venue */
async function partiesOf({ customers, venues }: Context, { customerId, venueId }: CreateOrderInput) {
  const customer = customerId ? await customers.require(customerId, 'customerId') : null
  if (customer) requireKept(customer)
  const venue = venueId ? await venues.require(venueId, 'venueId') : null
  if (venue) requireActiveVenue(venue)
  return { venue, ids: { customerId: customer?.id ?? null, venueId: venue?.id ?? null } }
}

/** @throws BAD_USER_INPUT for a venue of another merchant */
function requireVenueOf(venue: VenueRow, merchantId: string): void {
  if (venue.merchantId !== merchantId)
    throw new DomainError('BAD_USER_INPUT', 'venueId names a venue of another merchant: name one of the merchant who sells.', { field: 'venueId' })
}

const money = (amountMinor: bigint, currency: string) => ({ amountMinor, currency })

const currencies = [...exponents].map(([code, exponent]) => ({ code, exponent }))

export const orderResolvers: Resolvers = {
  Query: {
    order: (_, { id }, { orders }) => orders.require(id),
    orders: async (_, { status, merchantId, customerId, reference, from, to, metadataKey, metadataValue, ...page }, { viewer, orders }) => {
      activeOrganization(viewer, 'Orders')
      const filter = {
        ...{ status, reference, createdAt: { since: from, until: to } },
        ...{ merchantId: readId(merchantId, 'merchantId'), customerId: readId(customerId, 'customerId') },
        metadata: readMetadataFilter(metadataKey, metadataValue),
      }
      return orders.filtered(filter, page)
    },
    paymentCurrencies: () => currencies,
  },
  Mutation: {
    createOrder: (_, { input }, context) => createOrder(context, input),
    updateOrder: (_, { input }, context) => updateOrder(context, input),
    cancelOrder: (_, { input }, context) => cancelOrder(context, input),
    payOrder: (_, { input }, context) => payOrder(context, input),
    captureOrder: (_, { input }, context) => captureOrder(context, input),
    voidOrder: (_, { input }, context) => voidOrder(context, input),
  },
  Subscription: {
    orderUpdated: {
      subscribe: async (_, args, { viewer, orders, events }) => {
        const organizationId = activeOrganization(viewer, 'Orders')
        const [orderId, merchantId] = [readId(args.orderId, 'orderId'), readId(args.merchantId, 'merchantId')]
        if (orderId !== null) await orders.require(orderId, 'orderId')
        return mapEvents(events.listen([orderTopic(organizationId)]), event =>
          (orderId === null || event.orderId === orderId) && (merchantId === null || event.merchantId === merchantId) ? { orderId: event.orderId! } : undefined,
        )
      },
      // Read at each event, with the viewer's right to the order as it is then.
      resolve: ({ orderId }: { orderId: string }, _: unknown, { orders }: Context) => orders.byId.load(orderId),
    },
  },
  Order: {
    __resolveReference: ({ id }, { orders }) => orders.byId.load(id),
    lines: ({ lines, currency }) => shownLines(lines, currency),
    subtotal: ({ subtotalMinor, currency }) => money(subtotalMinor, currency),
    discount: ({ discountMinor, currency }) => money(discountMinor, currency),
    tax: ({ taxMinor, currency }) => money(taxMinor, currency),
    total: ({ totalMinor, currency }) => money(totalMinor, currency),
    captured: ({ capturedMinor, currency }) => money(capturedMinor, currency),
    refunded: ({ refundedMinor, currency }) => money(refundedMinor, currency),
    refundable: order => money(refundableOf(order), order.currency),
    due: order => money(dueOf(order), order.currency),
    // While the next payment is under way the last one's failure is over.
    failure: ({ status, paymentPhase, failureCode, failureMessage }) =>
      status === 'FAILED' || paymentPhase === 'AUTHORIZED' ? shownFailure(failureCode, failureMessage) : null,
    transactions: ({ id }, page, { transactions }) => transactions.page('ofOrder', id, page),
    merchant: ({ merchantId }, _, { merchants }) => merchants.byId.load(merchantId),
    venue: ({ venueId }, _, { venues }) => venues.find(venueId),
    organization: ({ organizationId }) => ({ __typename: 'Organization', id: organizationId }),
    createdBy: ({ userId }) => (userId ? { __typename: 'User', id: userId } : null),
  },
  Organization: {
    __resolveReference: ({ id }) => ({ id }),
    // One that is not the active one shows nothing, as if it had no orders.
    orders: ({ id }, page, { orders }) => orders.page('all', id, page),
  },
}
