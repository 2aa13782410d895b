import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { SignedRequest } from '../network.ts'
import { readJson } from '../wire/json.ts'

/** The fields of a signed request that we use. */
interface Payload {
  readonly algorithm: unknown
  readonly issued_at: unknown
  readonly user_id: unknown
}

const base64url = /^[A-Za-z0-9_-]+={0,2}$/

/**
 * Reads what Meta's networks post about an account: `base64url(signature).base64url(payload)`, the signature HMAC-SHA256 over the
 * encoded payload (https://developers.facebook.com/docs/facebook-login/guides/advanced/existing-system#parsingsr).
 * @param secret of the application at that very network
 */
export function readSignedRequest(secret: string, request: string): SignedRequest {
  const parts = partsOf(request)
  if (!parts) return { outcome: 'malformed' }
  const { signature, payload } = parts
  const { algorithm, issued_at: issuedAt, user_id: userId } = readJson<Payload>(Buffer.from(payload, 'base64url').toString('utf8'))
  const accountId = idOf(userId)
  const isWhole = typeof issuedAt === 'number' && Number.isSafeInteger(issuedAt) && issuedAt > 0 && issuedAt < 1e11
  if (String(algorithm).toUpperCase() !== 'HMAC-SHA256' || !isWhole || accountId === null) return { outcome: 'malformed' }
  const shown = Buffer.from(signature, 'base64url')
  const right = createHmac('sha256', secret).update(payload).digest()
  if (shown.length !== right.length || !timingSafeEqual(shown, right)) return { outcome: 'forged' }
  return { outcome: 'read', accountId, issuedAt: new Date(issuedAt * 1000), digest: createHash('sha256').update(payload).digest('hex') }
}

/**
 * Returns the account that a request claims to be about, without checking the signature; null for an invalid request.
 */
export function accountOfSigned(request: string): string | null {
  const parts = partsOf(request)
  return parts && idOf(readJson<Payload>(Buffer.from(parts.payload, 'base64url').toString('utf8')).user_id)
}

function partsOf(request: string): { readonly signature: string; readonly payload: string } | null {
  const [signature = '', payload = '', ...more] = request.split('.')
  return more.length > 0 || !base64url.test(signature) || !base64url.test(payload) ? null : { signature, payload }
}

function idOf(userId: unknown): string | null {
  const id = typeof userId === 'number' && Number.isSafeInteger(userId) ? String(userId) : userId
  return typeof id === 'string' && /^\w{1,64}$/.test(id) ? id : null
}
