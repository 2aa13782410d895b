import { DomainError } from '../../../../platform/errors.ts'

/** Methods that a customer may have. */
export const maxMethods = 20

/** @throws CONFLICT, reason QUOTA, for a customer with as many methods as there may be */
export function requireRoom(count: number): void {
  if (count >= maxMethods)
    throw new DomainError('CONFLICT', `The customer has ${count} payment methods, and there may be ${maxMethods}: remove one first.`, { reason: 'QUOTA' })
}
