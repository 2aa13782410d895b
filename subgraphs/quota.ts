import { Refusal } from '../platform/errors.ts'

const dayMs = 24 * 3_600_000

/** What was made of one kind. */
export interface Made {
  /** How many count against the quota in all. */
  readonly standing: number
  /** How many were made after `dayBefore(now)`, and when the first of them. */
  readonly today: number
  readonly todaySince: Date | null
}

/** The moment from which things count as made within a day. */
export const dayBefore = (now: Date): Date => new Date(now.getTime() - dayMs)

/**
 * Checks that one more may be made.
 * @param things what they are, in the plural, with whose they are: `organizations that you created`
 * @throws CONFLICT (reason `QUOTA`) when there are as many as there may be, RATE_LIMITED with `retryAfter` in seconds when a day's are used up
 */
export function requireRoom(made: Made, most: { readonly inAll: number; readonly aDay: number }, things: string, remedy: string, now: Date): void {
  if (made.standing >= most.inAll)
    throw new Refusal('CONFLICT', `There are ${made.standing} ${things}, and there may be ${most.inAll}: ${remedy}.`, { reason: 'QUOTA' })
  if (made.today < most.aDay) return
  const retryAfter = Math.max(1, Math.ceil(((made.todaySince ?? now).getTime() + dayMs - now.getTime()) / 1000))
  throw new Refusal('RATE_LIMITED', `There are ${made.today} ${things} within a day, and there may be ${most.aDay}: go on in ${retryAfter} seconds.`, {
    retryAfter,
  })
}
