import { DomainError } from '../../../../platform/errors.ts'
import type { WriteTransaction } from '../../../store/books.ts'
import { change } from '../../../store/write.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { TransactionRow, TransactionType } from '../../stores/transaction.ts'
import { announceOrder } from './announce.ts'
import { closeSessionsAndLinks, sessionOpen } from './checkouts.ts'
import { recordIntention } from './intention.ts'
import { requireMove, type Verb } from './moves.ts'
import type { PaymentRequest, PaymentWork } from './work.ts'

/** Which order moves, and by which version of it. */
interface Aim {
  readonly orderId: string
  readonly expectedVersion?: number | null | undefined
}

interface Begin extends Aim {
  readonly verb: Verb
  readonly transactionId: string
  /** What the transaction is, by the order as it stands under its lock: rules of the verb speak here. */
  intend(order: OrderRow): { readonly type: TransactionType; readonly amountMinor: bigint } & Partial<TransactionRow>
  /** Refuses what may not begin for another reason than the order, under locks of the same transaction. */
  require?(order: OrderRow, unit: WriteTransaction): Promise<void>
  readonly action: string
}

/** Moves an order into the phase PROCESSING, and records the intention with it. */
const begin = (context: PaymentWork, { verb, transactionId, orderId, expectedVersion, intend, require, action }: Begin): Promise<OrderRow> =>
  change(context, {
    of: context.orders,
    id: orderId,
    expectedVersion,
    async decide(order, unit) {
      requireMove(order, verb)
      await require?.(order, unit)
      await recordIntention(context, order, { id: transactionId, ...intend(order) }, unit)
      return { status: 'PENDING' as const, paymentPhase: 'PROCESSING' as const }
    },
    audit: ({ after: { id, merchantId } }) => ({ tenantId: merchantId, action, subjectId: id, details: { transactionId } }),
    announce: ({ after }) => announceOrder(context.events, after),
  })

/** What a payment is made with, and whether its money is taken or only held. */
export interface Payment extends Aim {
  readonly paymentMethod: string
  /** The processor's customer for whom it is kept; null for a method that is kept for nobody. */
  readonly paymentCustomer: string | null
  readonly capture: boolean
}

/** Begins a payment of the whole order. @throws CONFLICT, reason ILLEGAL_MOVE, OUTCOME_UNKNOWN, MERCHANT_SUSPENDED or SESSION_OPEN */
export const beginPayment = (context: PaymentWork, transactionId: string, { capture, paymentMethod, paymentCustomer, ...aim }: Payment): Promise<OrderRow> =>
  begin(context, {
    ...{ ...aim, transactionId, verb: 'pay', action: 'order.payment_begun' },
    async require({ id, merchantId }, { transaction }) {
      await context.merchants.requireActive(merchantId, transaction)
      const open = await context.checkoutSessions.openOf(id, transaction)
      if (open) throw sessionOpen(open.id)
    },
    intend: ({ status, totalMinor }) => ({
      type: capture ? 'PURCHASE' : 'AUTHORIZE',
      amountMinor: totalMinor,
      paymentMethod,
      paymentCustomer,
      statusBefore: status,
    }),
  })

/**
 * Begins to capture what is held, or a part of it.
 * @param amountMinor null: all of it
 * @throws BAD_USER_INPUT for less than 1 or more than is held; CONFLICT as `beginPayment`
 */
export const beginCapture = (context: PaymentWork, transactionId: string, { amountMinor, ...aim }: Aim & { readonly amountMinor: bigint | null }) =>
  begin(context, {
    ...{ ...aim, transactionId, verb: 'capture', action: 'order.capture_begun' },
    intend({ authorizedMinor }) {
      const amount = amountMinor ?? authorizedMinor
      if (amount < 1n || amount > authorizedMinor)
        throw new DomainError('BAD_USER_INPUT', `amountMinor must be 1 to ${authorizedMinor}, what is held for this order.`, { field: 'amountMinor' })
      return { type: 'CAPTURE', amountMinor: amount }
    },
  })

/** Begins to release what is held. @throws CONFLICT as `beginPayment` */
export const beginVoid = (context: PaymentWork, transactionId: string, aim: Aim): Promise<OrderRow> =>
  begin(context, {
    ...{ ...aim, transactionId, verb: 'void', action: 'order.void_begun' },
    intend: ({ authorizedMinor }) => ({ type: 'VOID', amountMinor: authorizedMinor }),
  })

/** The scope that is needed to release money, beside that to cancel. */
const takesPayments = 'payments:transactions.write'

/**
 * Cancels an order. What is held for it is released first, and it is cancelled once that is done.
 * @returns the order, and whether the void under `transactionId` has begun
 * @throws FORBIDDEN when something is held and the caller may not release it; CONFLICT as `beginPayment`
 */
export async function beginCancellation(
  context: PaymentRequest,
  transactionId: string,
  { reason, orderId, expectedVersion }: Aim & { readonly reason: string | null },
): Promise<{ readonly order: OrderRow; readonly isVoiding: boolean }> {
  const { orders, viewer, events } = context
  let isVoiding = false
  const order = await change(context, {
    of: orders,
    id: orderId,
    expectedVersion,
    async decide(order, unit) {
      requireMove(order, 'cancel')
      isVoiding = order.paymentPhase === 'AUTHORIZED'
      if (!isVoiding) {
        await closeSessionsAndLinks(context, order, unit)
        return { status: 'CANCELLED' as const }
      }
      if (!viewer.scopes.includes(takesPayments))
        throw new DomainError('FORBIDDEN', `Money is held for this order: to release it takes ${takesPayments}.`, { scope: takesPayments })
      await recordIntention(context, order, { id: transactionId, type: 'VOID', amountMinor: order.authorizedMinor, cancelsOrder: true }, unit)
      return { paymentPhase: 'PROCESSING' as const }
    },
    audit: ({ after: { id, merchantId, status } }) => ({
      tenantId: merchantId,
      action: status === 'CANCELLED' ? 'order.cancelled' : 'order.cancellation_begun',
      subjectId: id,
      details: { changes: reason === null ? [] : [{ field: 'reason', before: null, after: reason }] },
    }),
    announce: ({ after }) => announceOrder(events, after),
  })
  return { order, isVoiding }
}
