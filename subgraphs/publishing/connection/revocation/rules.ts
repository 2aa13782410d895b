import type { SignedRequest } from '../../network/network.ts'

/** How old a signed request may be, in ms. */
export const oldestMs = 24 * 3_600_000
/** How far a network's clock may be from ours, in ms. */
const aheadMs = 5 * 60_000
/**
 * Until when what was connected is meant by a request: who connects an account after its network signed wants it connected. Clocks differ, so
 * that a few minutes count as before: a deletion that spares too much is worse than an account that has to be connected once more.
 */
export const meantUntilOf = ({ issuedAt }: { readonly issuedAt: Date }, now: Date): Date => new Date(Math.min(now.getTime(), issuedAt.getTime() + aheadMs))

/** How long a deletion waits for a call that is under way by the account, in ms: longer than a call's claim, and well within a minute. */
export const waitForCallsMs = 40_000

/** Why a signed request is not heard, and with which status; null when it is. */
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
