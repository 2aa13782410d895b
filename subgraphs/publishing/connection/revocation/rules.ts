import type { SignedRequest } from '../../network/network.ts'

/** Maximum age of a signed request, in ms. */
export const oldestMs = 24 * 3_600_000
/** Tolerated difference between a network's clock and ours, in ms. */
const aheadMs = 5 * 60_000
/**
 * Returns the time up to which connections are covered by a request: an account that is connected after the signature
 * stays. A few minutes later still count, because clocks differ, and deleting too little is worse than an account that
 * has to be connected again.
 */
export const meantUntilOf = ({ issuedAt }: { readonly issuedAt: Date }, now: Date): Date => new Date(Math.min(now.getTime(), issuedAt.getTime() + aheadMs))

/**
 * Time in ms for which a deletion waits for a running call by the account: longer than a call's claim, and well within
 * a minute.
 */
export const waitForCallsMs = 40_000

/** Returns why a signed request is rejected, and with which status; null when it is accepted. */
export function complaint(request: SignedRequest, now: Date): { readonly code: 'BAD_USER_INPUT' | 'UNAUTHENTICATED'; readonly sentence: string } | null {
  if (request.outcome === 'malformed')
    return {
      code: 'BAD_USER_INPUT',
      sentence: 'signed_request is not what the network sends: a signature, a point and a payload, with algorithm, issued_at and user_id.',
    }
  if (request.outcome === 'forged') return { code: 'UNAUTHENTICATED', sentence: 'The signature of signed_request is not one of the application’s secret.' }
  const age = now.getTime() - request.issuedAt.getTime()
  if (age > oldestMs) return { code: 'BAD_USER_INPUT', sentence: 'signed_request is older than 24 hours: it is not heard any more.' }
  if (age < -aheadMs) return { code: 'BAD_USER_INPUT', sentence: 'signed_request is of a time that has not come yet.' }
  return null
}
