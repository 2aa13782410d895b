import { DomainError } from '../../../../platform/errors.ts'
import type { OrderRow } from '../../stores/order.ts'
import type { RefundRow } from '../../stores/refund.ts'
import type { TransactionRow } from '../../stores/transaction.ts'
import { codeOfCard, failureOf, type Outcome, outcomeOf } from './outcome.ts'

/** For how long an answer of the processor is waited for, in ms: a little longer than the gateway waits itself. */
export const answerMs = 29_000

/** The subject of a call to the processor. */
export interface Call {
  readonly order: OrderRow
  readonly transaction: TransactionRow
  /** The refund that the transaction pays out, if it is one. */
  readonly refund: RefundRow | null
}

/** What the processor says of a payment. */
export interface Intent {
  readonly id: string
  readonly status: string
  readonly failure: { readonly code: string | null; readonly declineCode: string | null } | null
}

/** What it says of a refund. */
export interface Returned {
  readonly id: string
  readonly status: string | null
}

/** What every call says: for whom, under which key, and what the processor keeps with it. */
export interface Told {
  readonly organizationId: string
  readonly key: string
  /** In minor units of the currency. */
  readonly amountMinor: bigint
  readonly currency: string
  readonly metadata: Readonly<Record<string, string>>
}

/** The payment processor, as the gateway to providers offers it. Each call throws what the gateway refuses it with. */
export interface Processor {
  /** Charges a payment method, or has its money held. */
  charge(charge: Told & { readonly paymentMethod: string; readonly customer: string | null; readonly isHeld: boolean }): Promise<Intent | null>
  /** Takes so much of what is held. */
  capture(capture: Told & { readonly paymentId: string }): Promise<Intent | null>
  /** Releases all that is held. */
  release(release: Told & { readonly paymentId: string }): Promise<Intent | null>
  refund(refund: Told & { readonly paymentId: string; readonly reason: RefundRow['reason'] }): Promise<Returned | null>
  /** What became of a payment that it has a name for. */
  payment(organizationId: string, id: string): Promise<Intent | null>
  /** What became of a refund that it has a name for. */
  refundBy(organizationId: string, id: string): Promise<Returned | null>
}

/**
 * Calls the processor for a transaction, or asks what became of it where the processor had named it before. The transaction's id is the
 * key, so that the same call can be repeated. Never throws: what cannot be told is an unknown outcome.
 * @param isFirst whether nothing can have been sent for it before
 */
export async function callProcessor(processor: Processor, call: Call, isFirst: boolean): Promise<Outcome> {
  try {
    return await told(processor, call)
  } catch (error) {
    // A payment that the processor has named is only read here: a failed read says nothing of it.
    return call.transaction.processorId ? { kind: 'UNKNOWN' } : outcomeOf(error, isFirst)
  }
}

async function told(processor: Processor, { order, transaction, refund }: Call): Promise<Outcome> {
  const { id: key, type, amountMinor, currency, paymentMethod, paymentCustomer: customer, processorId, organizationId } = transaction
  const what = { organizationId, key, amountMinor, currency, metadata: { order_id: order.id, transaction_id: key } }
  const paymentId = transaction.paymentId ?? order.processorPaymentId ?? ''
  switch (type) {
    case 'AUTHORIZE':
    case 'PURCHASE':
      if (processorId) return chargeOutcome(await processor.payment(organizationId, processorId), type)
      return chargeOutcome(await processor.charge({ ...what, paymentMethod: paymentMethod ?? '', customer, isHeld: type === 'AUTHORIZE' }), type)
    case 'CAPTURE':
      return captureOutcome(await processor.capture({ ...what, paymentId }))
    case 'VOID':
      return voidOutcome(await released(processor, { ...what, paymentId }))
    case 'REFUND':
      if (processorId) return refundOutcome(await processor.refundBy(organizationId, processorId))
      return refundOutcome(await processor.refund({ ...what, paymentId, reason: refund?.reason ?? 'OTHER' }))
    default:
      throw new Error(`a transaction of type ${type} has no call of its own`)
  }
}

/** Releases what is held; of what the processor has released by itself, as it does after some days, it refuses that, and the payment says so. */
async function released(processor: Processor, release: Told & { readonly paymentId: string }): Promise<Intent | null> {
  try {
    return await processor.release(release)
  } catch (error) {
    const payment = await processor.payment(release.organizationId, release.paymentId).catch(() => null)
    if (payment?.status === 'CANCELED') return payment
    throw error
  }
}

/** A charge has one success: what is held for an authorization, what is taken for a purchase. */
function chargeOutcome(intent: Intent | null, type: 'AUTHORIZE' | 'PURCHASE'): Outcome {
  if (!intent) return { kind: 'UNKNOWN' }
  const { id: processorId, status, failure } = intent
  if (status === (type === 'PURCHASE' ? 'SUCCEEDED' : 'REQUIRES_CAPTURE')) return { kind: 'SUCCEEDED', processorId }
  if (status === 'REQUIRES_ACTION' || status === 'REQUIRES_CONFIRMATION') return { kind: 'FAILED', failure: failureOf('AUTHENTICATION_REQUIRED'), processorId }
  if (status === 'REQUIRES_PAYMENT_METHOD') return { kind: 'FAILED', failure: failureOf(codeOfCard(failure?.declineCode, failure?.code)), processorId }
  if (status === 'CANCELED') return { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR'), processorId }
  return { kind: 'UNKNOWN', processorId }
}

const captureOutcome = (intent: Intent | null): Outcome =>
  intent?.status === 'SUCCEEDED' ? { kind: 'SUCCEEDED', processorId: intent.id } : { kind: 'UNKNOWN' }

const voidOutcome = (intent: Intent | null): Outcome => (intent?.status === 'CANCELED' ? { kind: 'SUCCEEDED', processorId: intent.id } : { kind: 'UNKNOWN' })

function refundOutcome(returned: Returned | null): Outcome {
  if (!returned) return { kind: 'UNKNOWN' }
  const { id: processorId, status } = returned
  if (status === 'SUCCEEDED') return { kind: 'SUCCEEDED', processorId }
  if (status === 'FAILED' || status === 'CANCELED') return { kind: 'FAILED', failure: failureOf('PROCESSOR_ERROR'), processorId }
  return { kind: 'UNKNOWN', processorId }
}

/**
 * Reads a token of the processor. What was sent instead is not repeated: it may be a card number.
 * @throws BAD_USER_INPUT for anything else
 */
export function readToken(token: string, field = 'token'): string {
  if (/^pm_[A-Za-z0-9_]{1,250}$/.test(token)) return token
  throw new DomainError('BAD_USER_INPUT', `${field} is no token of the processor: send the pm_… that its form returned, never a card number.`, { field })
}
