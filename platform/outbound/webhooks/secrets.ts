import { randomBytes } from 'node:crypto'
import { DomainError } from '../../errors.ts'

/** Time in ms for which a former secret signs beside the new one. */
export const overlapMs = 86_400_000

/** Maximum number of former secrets of an endpoint that still sign. */
export const maxFormerSecrets = 10

/** Creates a secret in the form shown to people (Standard Webhooks: 24 to 64 random bytes). */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/**
 * Rejects a rotation when the maximum number of former secrets still sign.
 * @param ends until when each earlier secret signs, the latest first
 * @throws RATE_LIMITED with `retryAfter`
 */
export function requireRoomForFormer(ends: readonly Date[], now: Date): void {
  // The present secret becomes a former one, and the last former one stays.
  if (ends.length + 2 <= maxFormerSecrets) return
  const retryAfter = Math.ceil((ends.at(-1)!.getTime() - now.getTime()) / 1000)
  throw new DomainError('RATE_LIMITED', `${maxFormerSecrets} former secrets of this webhook still sign: rotate again in ${retryAfter} seconds.`, { retryAfter })
}
