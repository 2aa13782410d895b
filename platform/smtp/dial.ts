import { connect, isIP, type Socket } from 'node:net'
import type { ResolveName } from '../outbound/names.ts'
import { createNames } from '../outbound/names.ts'
import { isPublicAddress, onlyPublic } from '../outbound/public.ts'
import { type Dial, MailFault } from './line.ts'

/**
 * Creates the dialer for mail servers that customers name: it only connects to public addresses, resolved for each
 * connection.
 * @param allowed configured places, `host:port`, that may have a private address
 */
export function createDial(allowed: readonly string[], resolve: ResolveName = createNames()): Dial {
  const trusted = new Set(allowed)
  return async (host, port, timeoutMs) => {
    const isTrusted = trusted.has(placeOf(host, port))
    if (!isTrusted && isIP(host) && !isPublicAddress(host)) throw new MailFault('the mail server lies on a private address')
    const { promise, resolve: done, reject } = Promise.withResolvers<Socket>()
    const socket = connect({ host, port, ...(!isTrusted && { lookup: onlyPublic(resolve) }) })
    const fail = (reason: string) => {
      socket.destroy()
      reject(new MailFault(`the mail server could not be reached (${reason})`, { isUntouched: true }))
    }
    const overdue = setTimeout(() => fail(`not within ${timeoutMs / 1000} s`), timeoutMs)
    const broke = (error: NodeJS.ErrnoException) => fail(error.code ?? 'no code')
    socket.once('error', broke)
    socket.once('connect', () => {
      socket.off('error', broke)
      done(socket)
    })
    return promise.finally(() => clearTimeout(overdue))
  }
}

/** Writes `mail.example.com:587`; an IPv6 address gets brackets. */
export const placeOf = (host: string, port: number): string => `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase()}:${port}`

/** Returns the places of origins: `http://mail.internal:587` allows a mail server there as well as an HTTP server. */
export const placesOf = (origins: readonly string[]): readonly string[] =>
  origins.map(origin => {
    const { hostname, port, protocol } = new URL(origin)
    return placeOf(hostname, Number(port || (protocol === 'https:' ? 443 : 80)))
  })
