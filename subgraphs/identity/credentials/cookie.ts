import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseCookie, stringifySetCookie } from 'cookie'
import { cookiePrefix } from './names.ts'

/** Every cookie of ours that a browser may hold. */
const cookies = ['session_token', 'session_data', 'dont_remember']

const nameOf = (cookie: string, secure: boolean): string => `${secure ? '__Secure-' : ''}${cookiePrefix}.${cookie}`

/**
 * Reads the session token out of a request's cookies without the library that wrote it, because every browser request
 * needs it. The value is `<token>.<signature>`, the signature HMAC-SHA256 in base64.
 * @returns the token; `'forged'` when the signature is not ours, and when several cookies of the name have different
 * values: a neighbouring
 *   host may have set one of them; null without a session cookie
 */
export function readSessionToken(headers: Headers, signed: Signed): string | 'forged' | null {
  const values = valuesIn(headers.get('cookie') ?? '', nameOf('session_token', signed.secure))
  if (values.length === 0) return null
  return (values.length === 1 && tokenIn(values[0]!, signed.secret)) || 'forged'
}

/** Returns every valid session token in a request's cookies: a sign-out ends all of them. */
export const readSessionTokens = (headers: Headers, { secret, secure }: Signed): string[] =>
  valuesIn(headers.get('cookie') ?? '', nameOf('session_token', secure)).flatMap(value => tokenIn(value, secret) ?? [])

interface Signed {
  readonly secret: string
  readonly secure: boolean
}

/** The different values of the cookies of a name (RFC 6265 §5.4: a browser sends those of several paths and domains side by side). */
function valuesIn(header: string, name: string): string[] {
  if (!header.includes(name)) return []
  const values = header.split(';').flatMap(pair => {
    const at = pair.indexOf('=')
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : []
  })
  return [...new Set(values)].filter(Boolean)
}

/** Returns the token in a cookie's value; null when its signature is not ours. */
function tokenIn(value: string, secret: string): string | null {
  const read = parseCookie(`c=${value}`).c ?? ''
  const dot = read.lastIndexOf('.')
  if (dot < 1) return null
  const token = read.slice(0, dot)
  const signature = Buffer.from(read.slice(dot + 1), 'base64')
  const expected = createHmac('sha256', secret).update(token).digest()
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? token : null
}

/**
 * Returns the `Set-Cookie` line of a session: for this host only, and inaccessible to scripts.
 * @param seconds for how long the browser keeps it
 */
export function sessionCookie(token: string, seconds: number, { secret, secure }: Signed): string {
  const value = `${token}.${createHmac('sha256', secret).update(token).digest('base64')}`
  return stringifySetCookie({ name: nameOf('session_token', secure), value, maxAge: seconds, path: '/', httpOnly: true, sameSite: 'lax', secure })
}

/** The `Set-Cookie` lines that remove our cookies. */
export function clearingCookies(secure: boolean): string[] {
  return cookies.map(cookie => stringifySetCookie({ name: nameOf(cookie, secure), value: '', maxAge: 0, path: '/', httpOnly: true, sameSite: 'lax', secure }))
}
