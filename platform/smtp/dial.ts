import { connect, isIP, type Socket } from 'node:net'
import type { ResolveName } from '../outbound/names.ts'
import { createNames } from '../outbound/names.ts'
import { isPublicAddress, onlyPublic } from '../outbound/public.ts'
import { type Dial, MailFault } from './line.ts'

/**
 * Makes what connects to mail servers that customers have named: only where it is public, and where the name leads is decided for each
 * connection, by the address that is then connected to.
 * @param allowed places that configuration names, `host:port`: these may lie on a private address
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

/** `mail.example.com:587`; of IPv6 with its brackets. */
export const placeOf = (host: string, port: number): string => `${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host.toLowerCase()}:${port}`

/** The places of origins: `http://mail.internal:587` allows a mail server there as well as one of HTTP. */
export const placesOf = (origins: readonly string[]): readonly string[] =>
  origins.map(origin => {
    const { hostname, port, protocol } = new URL(origin)
    return placeOf(hostname, Number(port || (protocol === 'https:' ? 443 : 80)))
  })
