import { createHash, ECDH } from 'node:crypto'
import { DomainError } from '../../../../platform/errors.ts'
import type { Subscribed } from '../../engines/notify/push/push.ts'

/** Maximum subscriptions of a person, and characters of an endpoint. */
export const max = { subscriptions: 20, endpoint: 2_000 } as const

const mistake = (field: string, message: string) => new DomainError('BAD_USER_INPUT', message, { field })

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

function readEndpoint(given: string, isDevelopment: boolean): string {
  const url = URL.parse(given)
  const isLoopback = url?.protocol === 'http:' && loopback.has(url.hostname) && isDevelopment
  if (!url || !(url.protocol === 'https:' || isLoopback)) throw mistake('endpoint', 'endpoint is no address of a push service: it begins with https://.')
  if (url.username || url.password) throw mistake('endpoint', 'endpoint holds a password: take it as the browser gives it.')
  url.hash = ''
  if (url.href.length > max.endpoint) throw mistake('endpoint', `endpoint has ${url.href.length} characters: the maximum is ${max.endpoint}.`)
  return url.href
}

function readBytes(given: string, field: string, length: number, what: string): Buffer {
  const text = given.trim().replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')
  const bytes = Buffer.from(text, 'base64url')
  if (!/^[\w-]{1,200}$/.test(text) || bytes.length !== length)
    throw mistake(field, `${field} is ${what} in base64url: take it from the browser's subscription.`)
  return bytes
}

function readPoint(given: string): string {
  const what = 'an uncompressed point of P-256, 65 bytes'
  const point = readBytes(given, 'p256dh', 65, what)
  try {
    // Refuses what does not lie on the curve.
    ECDH.convertKey(point, 'prime256v1', undefined, undefined, 'uncompressed')
  } catch {
    throw mistake('p256dh', `p256dh is ${what} in base64url: take it from the browser's subscription.`)
  }
  return point.toString('base64url')
}

/** Reads a browser's subscription. @throws BAD_USER_INPUT with the field that is wrong */
export const readSubscription = (
  { endpoint, p256dh, auth }: { readonly endpoint: string | URL; readonly p256dh: string; readonly auth: string },
  isDevelopment: boolean,
): Subscribed => ({
  endpoint: readEndpoint(String(endpoint), isDevelopment),
  p256dh: readPoint(p256dh),
  auth: readBytes(auth, 'auth', 16, '16 bytes').toString('base64url'),
})

/** Returns what identifies a browser: nobody but the browser and its person knows all three. */
export const hashOf = ({ endpoint, p256dh, auth }: Subscribed): string => createHash('sha256').update(`${endpoint}\n${p256dh}\n${auth}`).digest('base64url')

/** Checks that a person may have one more. @throws CONFLICT, reason LIMIT */
export function requireRoom(count: number): void {
  if (count < max.subscriptions) return
  throw new DomainError('CONFLICT', `${max.subscriptions} browsers are the most: remove one first.`, { reason: 'LIMIT' })
}
