import { timingSafeEqual } from 'node:crypto'

/** Maximum difference between a signature's time and the present, in seconds. */
const toleranceSeconds = 300

/** A request with a signature by Standard Webhooks. */
export interface SignedRequest {
  readonly headers: Headers
  /** The body as received. */
  readonly body: string
  /** Secrets of the form `whsec_…`; several during a rotation. */
  readonly secrets: readonly string[]
}

/**
 * Result of a verification: the id of the message, which repetitions share; or that the signature is invalid, or too
 * old.
 */
export type Signed = { readonly id: string } | { readonly wrong: 'unsigned' | 'old' }

/** Verifies the signature of a request: HMAC-SHA256 over id, time and body by one of the secrets, with a present time. */
export async function readSigned({ headers, body, secrets }: SignedRequest, now: Date): Promise<Signed> {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => headers.get(name))
  if (!id || id.length > 300 || !at || !/^\d{1,12}$/.test(at) || !signatures) return { wrong: 'unsigned' }
  const { Webhook } = await import('standardwebhooks')
  const given = signatures.split(' ').slice(0, 20)
  const isOurs = secrets.some(secret => {
    const wanted = Buffer.from(new Webhook(secret).sign(id, new Date(Number(at) * 1000), body))
    return given.some(each => each.length === wanted.length && timingSafeEqual(Buffer.from(each.padEnd(wanted.length).slice(0, wanted.length)), wanted))
  })
  if (!isOurs) return { wrong: 'unsigned' }
  return Math.abs(now.getTime() / 1000 - Number(at)) > toleranceSeconds ? { wrong: 'old' } : { id }
}
