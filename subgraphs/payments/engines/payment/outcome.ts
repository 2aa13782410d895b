import { codeOf, DomainError } from '../../../../platform/errors.ts'
import type { FailureCode } from '../../stores/order.ts'

/** Why something did not succeed. */
export interface Failure {
  readonly code: FailureCode
  /** A sentence for people. */
  readonly message: string
}

/** What became of a call to the processor. */
export type Outcome =
  | { readonly kind: 'SUCCEEDED'; readonly processorId: string | null }
  | { readonly kind: 'FAILED'; readonly failure: Failure; readonly processorId?: string | null }
  /** Nobody knows yet. `processorId` is what the processor called it, where it said that much. */
  | { readonly kind: 'UNKNOWN'; readonly processorId?: string | null }
  /** Nothing reached the processor: nothing has happened. */
  | { readonly kind: 'NOT_SENT'; readonly refusal: DomainError }

/** Failures after which the same payment may succeed when it is tried again later, unchanged. */
const retryable: ReadonlySet<FailureCode> = new Set(['INSUFFICIENT_FUNDS', 'PROCESSOR_ERROR', 'BALANCE_INSUFFICIENT'])

/** Whether the same may succeed when it is tried again later. */
export const isRetryable = (code: FailureCode): boolean => retryable.has(code)

/** What the processor's words for a refused card mean here; what is not listed is DECLINED. */
const cardWords: Readonly<Record<string, FailureCode>> = {
  insufficient_funds: 'INSUFFICIENT_FUNDS',
  expired_card: 'EXPIRED_CARD',
  authentication_required: 'AUTHENTICATION_REQUIRED',
  fraudulent: 'FRAUD_SUSPECTED',
  lost_card: 'FRAUD_SUSPECTED',
  stolen_card: 'FRAUD_SUSPECTED',
  merchant_blacklist: 'FRAUD_SUSPECTED',
  pickup_card: 'FRAUD_SUSPECTED',
  incorrect_cvc: 'INVALID_METHOD',
  invalid_cvc: 'INVALID_METHOD',
  incorrect_number: 'INVALID_METHOD',
  invalid_number: 'INVALID_METHOD',
  invalid_expiry_month: 'INVALID_METHOD',
  invalid_expiry_year: 'INVALID_METHOD',
  card_not_supported: 'INVALID_METHOD',
  currency_not_supported: 'INVALID_METHOD',
  processing_error: 'PROCESSOR_ERROR',
  issuer_not_available: 'PROCESSOR_ERROR',
  try_again_later: 'PROCESSOR_ERROR',
}
/** The same for what it says of amounts, methods and accounts; what is not listed is PROCESSOR_ERROR. */
const otherWords: Readonly<Record<string, FailureCode>> = {
  amount_too_large: 'AMOUNT_REFUSED',
  amount_too_small: 'AMOUNT_REFUSED',
  invalid_amount: 'AMOUNT_REFUSED',
  balance_insufficient: 'BALANCE_INSUFFICIENT',
  payment_method_unexpected_state: 'INVALID_METHOD',
  payment_method_not_available: 'INVALID_METHOD',
}

const sentences: Readonly<Record<FailureCode, string>> = {
  DECLINED: 'The card was declined: ask for another way to pay.',
  INSUFFICIENT_FUNDS: 'The card has not enough funds: try again later, or ask for another way to pay.',
  EXPIRED_CARD: 'The card has expired: ask for another one.',
  AUTHENTICATION_REQUIRED: 'The payer has to confirm this payment: send them to a checkout session.',
  FRAUD_SUSPECTED: 'The issuer suspects fraud: ask for another way to pay.',
  INVALID_METHOD: 'This payment method cannot be charged: check it, or ask for another one.',
  AMOUNT_REFUSED: 'The processor does not take this amount.',
  ACCOUNT_UNKNOWN: 'The processor does not know the account that the money was to go to.',
  BALANCE_INSUFFICIENT: 'The balance at the processor is too low for it.',
  PROCESSOR_ERROR: 'The processor refused it: try again later.',
  OUTCOME_UNKNOWN: 'It is not known yet whether the processor has done it: the platform is asking it.',
}

/** A failure with the sentence that people read. */
export const failureOf = (code: FailureCode): Failure => ({ code, message: sentences[code] })

/** What a refused card is called here, by the words of its issuer and the processor. */
export const codeOfCard = (declineCode: string | null | undefined, processorCode: string | null | undefined): FailureCode =>
  cardWords[declineCode ?? ''] ?? cardWords[processorCode ?? ''] ?? 'DECLINED'

interface Details {
  readonly reason?: unknown
  readonly outcome?: unknown
  readonly processorCode?: unknown
  readonly declineCode?: unknown
  readonly processorParam?: unknown
  readonly paymentIntentId?: unknown
  readonly field?: unknown
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/**
 * Reads what a refusal of the gateway to providers says of a call.
 * @param isFirst whether nothing can have been sent under this key before. Of a repetition only an answer to the first counts as an outcome:
 *   that the processor was not reached this time says nothing of that.
 */
export function outcomeOf(error: unknown, isFirst: boolean): Outcome {
  const code = codeOf(error)
  const details = ((error as { extensions?: Details } | null)?.extensions ?? {}) as Details
  const [processorCode, declineCode] = [textOf(details.processorCode), textOf(details.declineCode)]
  const failed = (failure: FailureCode): Outcome => ({ kind: 'FAILED', failure: failureOf(failure), processorId: textOf(details.paymentIntentId) })
  if (details.reason === 'CARD_REFUSED') return failed(codeOfCard(declineCode, processorCode))
  if (details.outcome === 'unknown' || details.reason === 'KEY_IN_USE') return { kind: 'UNKNOWN' }
  if (code === 'NOT_FOUND') return failed(textOf(details.processorParam) === 'destination' ? 'ACCOUNT_UNKNOWN' : 'INVALID_METHOD')
  if (processorCode !== null && (code === 'CONFLICT' || code === 'BAD_USER_INPUT')) return failed(otherWords[processorCode] ?? 'PROCESSOR_ERROR')
  if (!isFirst) return { kind: 'UNKNOWN' }
  if (code === 'BAD_USER_INPUT') return failed(textOf(details.field)?.startsWith('amount') ? 'AMOUNT_REFUSED' : 'PROCESSOR_ERROR')
  if (details.outcome === 'refused') return failed('PROCESSOR_ERROR')
  return unsentOf(code, details, error) ?? { kind: 'UNKNOWN' }
}

/** Codes of refusals that come before anything is sent. The filter of access has a code of its own, which is no row of ours. */
const before = new Set(['FORBIDDEN', 'UNAUTHENTICATED', 'RATE_LIMITED', 'UNAUTHORIZED_FIELD_OR_TYPE', 'OPERATION_TOO_EXPENSIVE'])

/** What is answered when nothing was sent; null when something may have been. */
function unsentOf(code: string, { reason, outcome }: Details, error: unknown): Outcome | null {
  const said = (error as Error).message
  if (reason === 'NO_CREDENTIAL') return { kind: 'NOT_SENT', refusal: new DomainError('CONFLICT', said, { reason, provider: 'stripe' }) }
  if (code === 'BUDGET_EXCEEDED') return { kind: 'NOT_SENT', refusal: new DomainError('BUDGET_EXCEEDED', said) }
  const own = textOf((error as { extensions?: { code?: unknown } }).extensions?.code) ?? ''
  if (outcome === 'not_sent' || before.has(own)) return { kind: 'NOT_SENT', refusal: notSent() }
  return null
}

const notSent = (): DomainError =>
  new DomainError('UPSTREAM_FAILED', 'The payment processor could not be reached, and nothing was sent to it: try again in a moment.', { reason: 'NOT_SENT' })
