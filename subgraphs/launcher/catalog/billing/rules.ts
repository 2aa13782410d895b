import { createHash } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import { readIdempotency } from '../../../../platform/idempotency.ts'
import { maxSeats, type Offer } from '../../engines/commerce/plans.ts'
import type { BillingOwner } from '../../stores/commerce/subscription.ts'

/** Reads a number of seats. @throws BAD_USER_INPUT */
export function readSeats(given: number, field = 'seats'): number {
  if (Number.isInteger(given) && given >= 1 && given <= maxSeats) return given
  throw new DomainError('BAD_USER_INPUT', `${field} is ${given}: it takes 1 to ${maxSeats}.`, { field })
}

/**
 * Returns what stands for an idempotency key in a key of the processor, which takes fewer characters; null without one. The
 * processor itself compares what the key was used for.
 * @throws BAD_USER_INPUT for a key that none can be
 */
export function keyAtProcessor({ idempotencyKey }: { readonly idempotencyKey?: string | null | undefined }): string | null {
  const idempotency = readIdempotency({ idempotencyKey })
  return idempotency && createHash('sha256').update(idempotency.key).digest('base64url')
}

/** Returns what stands at the processor beside a subscription: whose it is, and what for. */
export const metadataOf = ({ ownerType, ownerId }: BillingOwner, { kind, package: name }: Offer): Readonly<Record<string, string>> => ({
  ...{ owner_type: ownerType.toLowerCase(), owner_id: ownerId, package: name.toLowerCase(), kind: kind.toLowerCase() },
})

/** The refusal of a second bundle or verification. */
export const subscribed = (): DomainError =>
  new DomainError('CONFLICT', 'There is a subscription already: change it in the portal, or let it end first.', { reason: 'SUBSCRIBED' })

/** The refusal where nothing is paid. */
export const notSubscribed = (): DomainError => new DomainError('CONFLICT', 'There is no subscription: buy a bundle first.', { reason: 'NOT_SUBSCRIBED' })
