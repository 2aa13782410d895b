import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Call } from '../network.ts'

/** Maximum age of a signature, in seconds. */
const toleranceSeconds = 300

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

const signed = (key: Buffer, id: string, seconds: string, text: string): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')}`

/** Headers that identify a webhook of Standard Webhooks. */
export interface Marks {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
}

/**
 * Returns the identifying headers of a call whose signature matches one of the secrets and is at most 300 s old; else
 * null.
 */
export function marksOf({ headers, body }: Pick<Call, 'headers' | 'body'>, secret: string, now: Date): Marks | null {
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(name => String(headers[name] ?? '')) as [
    string,
    string,
    string,
  ]
  if (id === '' || !/^\d{1,12}$/.test(timestamp) || Math.abs(now.getTime() / 1000 - Number(timestamp)) > toleranceSeconds) return null
  const wanted = Buffer.from(signed(keyOf(secret), id, timestamp, body.toString('utf8')))
  const isGood = signature.split(' ').some(each => {
    const given = Buffer.from(each)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
  return isGood ? { id, timestamp, signature } : null
}

/** How a webhook is sent, including deliberate errors for tests. */
export interface Sending {
  readonly url: string
  readonly secret: string
  readonly now: Date
  readonly body: object
  /** `bad` signs with a wrong secret. @default good */
  readonly signature?: 'good' | 'bad'
  /** Age of the signature in seconds. @default 0 */
  readonly ageSeconds?: number
  readonly id?: string
}

/** Sends a webhook once and returns the status of the answer; null when there was no answer. */
export async function sendWebhook({ url, secret, now, body, signature = 'good', ageSeconds = 0, id = `msg_${randomUUID()}` }: Sending): Promise<number | null> {
  const text = JSON.stringify(body)
  const timestamp = String(Math.floor(now.getTime() / 1000) - ageSeconds)
  const key = signature === 'good' ? keyOf(secret) : randomBytes(32)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signed(key, id, timestamp, text),
  }
  try {
    const answer = await fetch(url, { method: 'POST', headers, body: text, redirect: 'manual', signal: AbortSignal.timeout(10_000) })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return null
  }
}
