import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readJson } from '../json.ts'
import type { SignedRequest } from '../network.ts'

/** What a signed request says, as far as anybody here reads it. */
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
  const [signature = '', payload = '', ...more] = request.split('.')
  if (more.length > 0 || !base64url.test(signature) || !base64url.test(payload)) return { outcome: 'malformed' }
  const { algorithm, issued_at: issuedAt, user_id: userId } = readJson<Payload>(Buffer.from(payload, 'base64url').toString('utf8'))
  const accountId = typeof userId === 'number' && Number.isSafeInteger(userId) ? String(userId) : userId
  const isWhole = typeof issuedAt === 'number' && Number.isSafeInteger(issuedAt) && issuedAt > 0 && issuedAt < 1e11
  if (String(algorithm).toUpperCase() !== 'HMAC-SHA256' || !isWhole || typeof accountId !== 'string' || !/^\w{1,64}$/.test(accountId))
    return { outcome: 'malformed' }
  const shown = Buffer.from(signature, 'base64url')
  const right = createHmac('sha256', secret).update(payload).digest()
  if (shown.length !== right.length || !timingSafeEqual(shown, right)) return { outcome: 'forged' }
  return { outcome: 'read', accountId, issuedAt: new Date(issuedAt * 1000), digest: createHash('sha256').update(payload).digest('hex') }
}
