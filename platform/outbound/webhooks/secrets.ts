import { randomBytes } from 'node:crypto'
import { Refusal } from '../../errors.ts'

/** For how long a former secret signs beside the new one, in ms. */
export const overlapMs = 86_400_000

/** How many former secrets of an address sign at most. */
export const maxFormerSecrets = 10

/** Returns a new secret, as it is shown (Standard Webhooks: 24 to 64 random bytes). */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * Refuses a rotation when as many former secrets sign as may.
 * @param ends until when each of those that were replaced earlier than the last one signs, the latest first
 * @throws RATE_LIMITED with `retryAfter`
 */
export function requireRoomForFormer(ends: readonly Date[], now: Date): void {
  // The present secret becomes a former one, and the last former one stays.
  if (ends.length + 2 <= maxFormerSecrets) return
  const retryAfter = Math.ceil((ends.at(-1)!.getTime() - now.getTime()) / 1000)
  throw new Refusal('RATE_LIMITED', `${maxFormerSecrets} former secrets of this webhook still sign: rotate again in ${retryAfter} seconds.`, { retryAfter })
}
