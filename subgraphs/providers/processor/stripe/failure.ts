import type { Stripe } from 'stripe'
import { DomainError } from '../../../../platform/errors.ts'
import { OutboundFailure } from '../../../../platform/outbound/failure.ts'
import { withoutSecrets } from '../../engines/third-party/credentials.ts'

/** A failed call. */
export interface Failure {
  /** Error for the caller. */
  readonly refusal: DomainError
  /** Whether anything reached the processor, so that it counts as a call. */
  readonly wasSent: boolean
  /** Whether it is unknown if it was done. */
  readonly isUnknown: boolean
  /** Result for the credential; null when the error says nothing about it. */
  readonly credential: 'taken' | 'refused' | null
  /** HTTP status of the answer; null without one. */
  readonly status: number | null
  /** Code of the failure in the call log. */
  readonly word: string
}

type StripeError = Stripe.errors.StripeError

const isStripeError = (error: unknown): error is StripeError =>
  typeof (error as { type?: unknown } | null)?.type === 'string' && (error as { type: string }).type.startsWith('Stripe')

/** Whether an earlier call with the same key is still in progress: nothing was done for this one. */
export const isKeyInUse = (error: unknown): boolean => isStripeError(error) && error.statusCode === 409 && error.code === 'idempotency_key_in_use'

/** Whether the secret is not the processor's any more: nothing was done. */
export const isKeyRefused = (error: unknown): boolean => isStripeError(error) && error.statusCode === 401

const unknownSentence =
  'The processor was called, but its answer does not say whether it was done: send the same request again with the same idempotencyKey, or check the processor’s records.'

/** Returns the processor's message without secrets: its messages repeat parts of keys. */
const said = (error: StripeError, secrets: readonly (string | undefined)[]): string =>
  withoutSecrets(error.message, secrets).replace(/\b(?:sk|rk|whsec)_[\w*]+/g, '••••')

/**
 * Reads why a call failed.
 * @param secrets the secrets used for the call, which are removed from messages
 * @returns null for an error of our own code
 */
export function failureOf(error: unknown, secrets: readonly (string | undefined)[]): Failure | null {
  if (!isStripeError(error)) return null
  const status = error.statusCode ?? null
  if (error.type === 'StripeConnectionError') {
    const wasSent = !(error.detail instanceof OutboundFailure) || (error.detail as OutboundFailure).sent
    return wasSent ? unknown(null, 'no answer') : { ...plain(notSent(), null, 'not sent'), wasSent: false, credential: null }
  }
  // An unreadable answer or a server error: the operation may have been done.
  if (status === null || status >= 500) return unknown(status, status === null ? 'no JSON' : `status ${status}`)
  return {
    ...plain(refusalOf(error, said(error, secrets)), status, error.code ?? `status ${status}`),
    credential: status === 401 || status === 403 ? 'refused' : 'taken',
  }
}

const plain = (refusal: DomainError, status: number | null, word: string): Failure => ({
  refusal,
  status,
  word,
  wasSent: true,
  isUnknown: false,
  credential: 'taken',
})

const unknown = (status: number | null, word: string): Failure => ({
  ...plain(new DomainError('UPSTREAM_FAILED', unknownSentence, { outcome: 'unknown' }), status, word),
  isUnknown: true,
  credential: null,
})

const notSent = (): DomainError =>
  new DomainError('UPSTREAM_FAILED', 'The processor could not be reached, and nothing was sent: try again.', { outcome: 'not_sent' })

/**
 * Converts an error of the processor to one for the caller, with a message of our own: mistakes in the input are the
 * caller's, all others the platform's.
 */
function refusalOf(error: StripeError, sentence: string): DomainError {
  const { statusCode: status, rawType, code, decline_code: decline, param } = error
  const details = { ...(code && { processorCode: code }), ...(param && { processorParam: param }) }
  if (rawType === 'card_error' || status === 402) {
    const intent = (error.payment_intent as { id?: string } | undefined)?.id
    return new DomainError('CONFLICT', `The card was refused: ${sentence} Ask for another way to pay.`, {
      ...{ reason: 'CARD_REFUSED', processorCode: code ?? null, declineCode: decline || null },
      ...(intent && { paymentIntentId: intent }),
    })
  }
  if (status === 409 && code === 'idempotency_key_in_use')
    return new DomainError(
      'CONFLICT',
      'Another call with this idempotencyKey has not been answered by the processor yet: send it again later under the same key.',
      {
        ...{ reason: 'KEY_IN_USE', field: 'idempotencyKey' },
      },
    )
  if (rawType === 'idempotency_error')
    return new DomainError('CONFLICT', 'This idempotencyKey was used at the processor for something else: choose a new key for something new.', {
      ...{ reason: 'KEY_REUSED', field: 'idempotencyKey' },
    })
  if (status === 404 || code === 'resource_missing') return new DomainError('NOT_FOUND', `The processor does not know it: ${sentence}`, details)
  if (status === 400) return new DomainError(isOfState(code) ? 'CONFLICT' : 'BAD_USER_INPUT', `The processor does not take it: ${sentence}`, details)
  if (status === 429)
    return new DomainError('UPSTREAM_FAILED', 'The processor takes no more calls at present, and has not done this one: try again in a moment.', {
      ...{ outcome: 'refused', ...details },
    })
  return new DomainError('UPSTREAM_FAILED', 'The processor has refused the platform, and has not done this: the credential of stripe is not good for it.', {
    ...{ outcome: 'refused', ...(code && { processorCode: code }) },
  })
}

/** Whether a code reports that the state of a record forbids the call: another input would not help. */
const isOfState = (code: string | undefined): boolean =>
  code !== undefined &&
  (/_unexpected_state$/.test(code) || ['charge_already_refunded', 'charge_already_captured', 'balance_insufficient', 'charge_disputed'].includes(code))
