import { failureOf, isRetryable } from '../engines/payment/outcome.ts'
import type { FailureCode } from '../stores/order.ts'

/** A failure as it is shown; null where nothing failed. */
export const shownFailure = (code: FailureCode | null, message: string | null) =>
  code && { code, message: message ?? failureOf(code).message, retryable: isRetryable(code) }
