import { DomainError } from '../../../../platform/errors.ts'
import type { CheckoutSessionRow, CheckoutStatus } from '../../stores/checkout/session.ts'
import type { OrderRow } from '../../stores/order.ts'
import { allowsMove, statusWithMoney } from '../payment/moves.ts'

const [secondMs, minuteMs, dayMs] = [1_000, 60_000, 86_400_000]

/** For how many minutes a session may be open. */
export const sessionMinutes = { min: 30, max: 1_440 } as const
/** For how many days a link is open, unless its caller says otherwise, and at most. */
export const linkDays = { usual: 7, max: 90 } as const
/** How long an address may be, in characters. */
const maxAddress = 2_000

/**
 * Reads an address to which the processor's page leads back.
 * @throws BAD_USER_INPUT
 */
export function readReturnAddress(address: string, field: string): string {
  const plain = address.replaceAll('{CHECKOUT_SESSION_ID}', 'id')
  if (plain.length <= maxAddress && URL.canParse(plain) && /^https?:$/.test(new URL(plain).protocol)) return address
  throw new DomainError('BAD_USER_INPUT', `${field} is not an address such as https://shop.example.com/thanks.`, { field })
}

/** Reads for how many minutes a session is to be open. @param usual what the organization's settings say @throws BAD_USER_INPUT */
export function readMinutes(given: number | null | undefined, usual: number): number {
  const { min, max } = sessionMinutes
  const minutes = given ?? usual
  if (minutes >= min && minutes <= max) return minutes
  throw new DomainError('BAD_USER_INPUT', `expiresInMinutes is ${minutes}: it takes ${min} to ${max}.`, { field: 'expiresInMinutes' })
}

/**
 * Returns when a session ends. The processor takes 30 minutes to 24 hours from the moment that the call reaches it, so that the
 * shortest and the longest keep one minute away from its bounds.
 */
export function expiryOf(minutes: number, now: Date): Date {
  const { min, max } = sessionMinutes
  return new Date(now.getTime() + Math.min(Math.max(minutes, min + 1), max - 1) * minuteMs)
}

/** Reads when a link ends. @throws BAD_USER_INPUT for a moment that is over, or more than 90 days away */
export function readLinkExpiry(given: Date | null | undefined, now: Date): Date {
  const expiresAt = given ?? new Date(now.getTime() + linkDays.usual * dayMs)
  const ms = expiresAt.getTime() - now.getTime()
  if (ms > 0 && ms <= linkDays.max * dayMs) return expiresAt
  throw new DomainError('BAD_USER_INPUT', `expiresAt takes a moment of the next ${linkDays.max} days.`, { field: 'expiresAt' })
}

/**
 * Requires that a session or a link is open.
 * @param what `checkout session`
 * @throws CONFLICT, reason ILLEGAL_MOVE
 */
export function requireOpen({ status: from }: { readonly status: CheckoutStatus }, what: string): void {
  if (from === 'OPEN') return
  throw new DomainError('CONFLICT', `The ${what} is ${from}: only an open one is closed.`, { reason: 'ILLEGAL_MOVE', from, verb: 'close', possible: [] })
}

/** What an order becomes whose last open session or link has ended unpaid; nothing where something else decides on it. */
export function releaseOf(order: OrderRow): Partial<OrderRow> {
  if (order.status !== 'PENDING' || order.paymentPhase !== 'NONE') return {}
  return { status: statusWithMoney({ ...order, status: 'DRAFT' }) }
}

/** Between which waits the processor is asked about an open session, in ms: more seldom the older it is, for its events come first. */
const [firstLookMs, maxLookMs] = [5 * secondMs, 5 * minuteMs]

/** Returns when the processor is asked about a session next: by its age, and soon after its time is over. */
export function nextLook({ createdAt, expiresAt }: Pick<CheckoutSessionRow, 'createdAt' | 'expiresAt'>, now: Date): Date {
  const byAge = Math.min(Math.max((now.getTime() - createdAt.getTime()) / 4, firstLookMs), maxLookMs)
  const left = expiresAt.getTime() - now.getTime()
  return new Date(now.getTime() + (left > 0 ? Math.min(byAge, left + secondMs) : byAge))
}

/** What comes of a session that has ended at the processor. */
export interface Ending {
  readonly session: Partial<CheckoutSessionRow>
  readonly order: Partial<OrderRow>
  /** The money that came by it; null where none came, or it is recorded already. */
  readonly money: { readonly type: 'PURCHASE' | 'AUTHORIZE'; readonly isLate: boolean } | null
}

/**
 * Decides what a session's end at the processor changes. Money that comes by a session which was closed here, or for an order that
 * cannot take it any more, is late: it is recorded and goes back.
 * @param said       COMPLETE: somebody paid on the page
 * @param isRecorded whether its money is recorded already
 * @param isLast     whether nothing else of the order is open
 */
export function endSession(
  session: CheckoutSessionRow,
  order: OrderRow,
  said: 'COMPLETE' | 'EXPIRED',
  { isRecorded, isLast }: { readonly isRecorded: boolean; readonly isLast: boolean },
): Ending {
  const over = { nextLookAt: null }
  const wasOpen = session.status === 'OPEN'
  if (said === 'EXPIRED') return { session: { ...over, ...(wasOpen && { status: 'EXPIRED' }) }, order: wasOpen && isLast ? releaseOf(order) : {}, money: null }
  if (isRecorded) return { session: over, order: {}, money: null }
  const isLate = !wasOpen || !allowsMove(order, 'pay')
  return {
    session: { ...over, ...(wasOpen && { status: 'COMPLETED' }) },
    order: isLate ? {} : { status: 'PENDING', paymentPhase: 'PROCESSING' },
    money: { type: session.captureMode === 'MANUAL' ? 'AUTHORIZE' : 'PURCHASE', isLate },
  }
}
