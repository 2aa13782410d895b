import { Refusal } from '../../../../platform/errors.ts'

/** Methods that a customer may have. */
export const maxMethods = 20

/**
 * Reads a token of the processor. What was sent instead is not repeated: it may be a card number.
 * @throws BAD_USER_INPUT for anything else
 */
export function readToken(token: string, field = 'token'): string {
  if (/^pm_[A-Za-z0-9_]{1,250}$/.test(token)) return token
  throw new Refusal('BAD_USER_INPUT', `${field} is no token of the processor: send the pm_… that its form returned, never a card number.`, { field })
}

/** @throws CONFLICT, reason QUOTA, for a customer with as many methods as there may be */
export function requireRoom(count: number): void {
  if (count >= maxMethods)
    throw new Refusal('CONFLICT', `The customer has ${count} payment methods, and there may be ${maxMethods}: remove one first.`, { reason: 'QUOTA' })
}
