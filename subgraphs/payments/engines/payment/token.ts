import { Refusal } from '../../../../platform/errors.ts'

/**
 * Reads a token of the processor. What was sent instead is not repeated: it may be a card number.
 * @throws BAD_USER_INPUT for anything else
 */
export function readToken(token: string, field = 'token'): string {
  if (/^pm_[A-Za-z0-9_]{1,250}$/.test(token)) return token
  throw new Refusal('BAD_USER_INPUT', `${field} is no token of the processor: send the pm_… that its form returned, never a card number.`, { field })
}
