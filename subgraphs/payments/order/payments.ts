import { DomainError } from '../../../platform/errors.ts'
import { readText, requireId } from '../../../platform/ids.ts'
import { type Hold, makeHeld } from '../../store/claim.ts'
import { activeOrganization, actorOf } from '../../viewer.ts'
import type { Context } from '../context.ts'
import { beginCancellation, beginCapture, beginPayment, beginVoid } from '../engines/payment/begin.ts'
import { readToken } from '../engines/payment/processor.ts'
import { runAndWait } from '../engines/payment/run.ts'
import type { CancelOrderInput, CaptureOrderInput, PayOrderInput, VoidOrderInput } from '../resolvers.generated.ts'
import type { OrderRow } from '../stores/order.ts'

/** How long a reason may be, in characters. */
const maxReason = 500

interface Move {
  /** The mutation. */
  readonly what: string
  readonly orderId: string
  readonly input: { readonly idempotencyKey?: string | null | undefined }
  /** Records what is to be done, under the id of its transaction. @returns whether the processor has to be called for it */
  begin(context: Context, transactionId: string): Promise<boolean>
}

/** Moves an order by a call to the processor, once for each key, and answers the order when the outcome is known, or eight seconds have passed. */
async function move(context: Context, { what, orderId: given, input, begin }: Move): Promise<OrderRow> {
  const tenantId = activeOrganization(context.viewer, 'Orders')
  const orderId = requireId(given, 'orderId')
  // Whose it is is asked before a key is taken for it.
  await context.orders.require(orderId, 'orderId')
  const job = context.jobFor(actorOf(context.viewer))
  const find = () => job.orders.byId.load(orderId)
  const { row } = await makeHeld<OrderRow>(context, {
    ...{ what, tenantId, once: input, find },
    async make({ id, isResumed }: Hold) {
      // A process that died had begun it: whoever is due next brings it to its end.
      const isBegun = isResumed && (await job.transactions.byId.load(id)) !== null
      if (!isBegun && (await begin(context, id))) await runAndWait(job, id)
      return (await find())!
    },
  })
  return row
}

/**
 * Finds what the processor calls a kept method and its customer.
 * @throws NOT_FOUND; BAD_USER_INPUT for the method of another customer than the order's
 */
async function keptMethod({ customers, orders, paymentMethods }: Context, orderId: string, id: string) {
  const { customerId, processorId: paymentMethod } = await paymentMethods.require(id, 'paymentMethodId')
  const order = await orders.byId.load(orderId)
  if (order?.customerId && order.customerId !== customerId)
    throw new DomainError('BAD_USER_INPUT', 'paymentMethodId names a method of another customer: name one of the customer who pays.', {
      field: 'paymentMethodId',
    })
  return { paymentMethod, paymentCustomer: (await customers.byId.load(customerId))?.processorId ?? null }
}

/** Charges a payment method for an order, or holds its money with `capture: false`. A decline is an answer. */
export function payOrder(context: Context, input: PayOrderInput): Promise<OrderRow> {
  const { orderId, paymentMethodToken, paymentMethodId, capture, expectedVersion } = input
  if (paymentMethodId && paymentMethodToken)
    throw new DomainError('BAD_USER_INPUT', 'Both paymentMethodId and paymentMethodToken are given: send one of them.', { field: 'paymentMethodId' })
  const token = paymentMethodId ? null : readToken(paymentMethodToken ?? '', 'paymentMethodToken')
  const begin = async (_: Context, id: string) => {
    const method = token === null ? await keptMethod(context, orderId, paymentMethodId!) : { paymentMethod: token, paymentCustomer: null }
    return (await beginPayment(context, id, { orderId, expectedVersion, ...method, capture: capture ?? true })) !== null
  }
  return move(context, { what: 'payOrder', orderId, input, begin })
}

/** Takes what is held for an order, or a part of it; the rest is released. */
export const captureOrder = (context: Context, input: CaptureOrderInput): Promise<OrderRow> =>
  move(context, {
    ...{ what: 'captureOrder', orderId: input.orderId, input },
    begin: async (_, id) => (await beginCapture(context, id, { ...input, amountMinor: input.amountMinor ?? null })) !== null,
  })

/** Releases what is held for an order; it is a draft again. */
export const voidOrder = (context: Context, input: VoidOrderInput): Promise<OrderRow> =>
  move(context, {
    ...{ what: 'voidOrder', orderId: input.orderId, input },
    begin: async (_, id) => (await beginVoid(context, id, input)) !== null,
  })

/** Cancels an order; what is held for it is released first. */
export function cancelOrder(context: Context, input: CancelOrderInput): Promise<OrderRow> {
  const reason = readText(input.reason, 'reason', maxReason)
  return move(context, {
    ...{ what: 'cancelOrder', orderId: input.id, input },
    begin: async (_, id) => (await beginCancellation(context, id, { orderId: input.id, expectedVersion: input.expectedVersion, reason })).isVoiding,
  })
}
