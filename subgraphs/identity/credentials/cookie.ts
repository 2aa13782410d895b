import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { cookiePrefix } from './names.ts'

/** Every cookie of ours that a browser may hold. */
const cookies = ['session_token', 'session_data', 'dont_remember']

const nameOf = (cookie: string, secure: boolean): string => `${secure ? '__Secure-' : ''}${cookiePrefix}.${cookie}`

/**
 * Reads the session token out of a request's cookies without the library that wrote it, for it is read with every request of
 * a browser. The value is `<token>.<signature>`, the signature HMAC-SHA256 in base64.
 * @returns the token; `'forged'` when the signature is not ours; null without a session cookie
 */
export function readSessionToken(headers: Headers, { secret, secure }: { secret: string; secure: boolean }): string | 'forged' | null {
  const value = parseCookie(headers.get('cookie') ?? '')[nameOf('session_token', secure)]
  if (!value) return null
  const dot = value.lastIndexOf('.')
  if (dot < 1) return 'forged'
  const token = value.slice(0, dot)
  const signature = Buffer.from(value.slice(dot + 1), 'base64')
  const expected = createHmac('sha256', secret).update(token).digest()
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? token : 'forged'
}

/** The `Set-Cookie` lines that remove our cookies. */
export function clearingCookies(secure: boolean): string[] {
  return cookies.map(cookie => stringifySetCookie({ name: nameOf(cookie, secure), value: '', maxAge: 0, path: '/', httpOnly: true, sameSite: 'lax', secure }))
}
