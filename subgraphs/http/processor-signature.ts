import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '../../platform/errors.ts'

/** How far the time of a signature may lie from ours, in seconds. */
export const toleranceSeconds = 300

/** How many signatures of one header are looked at. */
const maxSignatures = 20

const stranger = (): DomainError =>
  new DomainError('BAD_USER_INPUT', 'The signature is missing, wrong, or more than five minutes away.', { reason: 'SIGNATURE' })

/**
 * Requires that an event is signed as Stripe signs (https://docs.stripe.com/webhooks#verify-manually): `t=…,v1=…`, HMAC-SHA256 in hex over the
 * time, a full stop and the body. Signatures are compared in constant time.
 * @param secrets each may have signed; its whole text is the key
 * @param body the bytes as they came
 * @throws BAD_USER_INPUT, reason SIGNATURE
 */
export function requireSignature(header: string | null, body: Uint8Array, secrets: readonly string[], now: Date): void {
  const parts = (header ?? '').split(',').map(part => part.trim().split('=', 2) as [string, string?])
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const given = parts.flatMap(([name, value]) => (name === 'v1' && /^[\da-f]{64}$/.test(value ?? '') ? [Buffer.from(value!, 'hex')] : []))
  if (!/^\d{1,12}$/.test(time) || Math.abs(now.getTime() - Number(time) * 1000) > toleranceSeconds * 1000) throw stranger()
  const wanted = secrets.map(secret => createHmac('sha256', secret).update(`${time}.`).update(body).digest())
  // Every pair is compared, so the time that it takes says nothing of which one is right.
  let isOurs = false
  for (const each of given.slice(0, maxSignatures)) for (const one of wanted) isOurs = timingSafeEqual(each, one) || isOurs
  if (!isOurs) throw stranger()
}
