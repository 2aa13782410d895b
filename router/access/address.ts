import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import { plainAddress } from '../../platform/caller/address.ts'

/** Tells the address that a request comes from, for upgrades: of other requests Fastify tells it. */
export type AddressOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Reads addresses as Fastify does, by the library that it reads them with.
 * @param trustProxy whether `X-Forwarded-For` names the caller: true believes it whole, a list of addresses and networks, with commas
 * between them, as far as it was written by these
 */
export function createAddressOf(trustProxy: boolean | string): AddressOf {
  const trusts = typeof trustProxy === 'boolean' ? () => trustProxy : proxyAddr.compile(trustProxy.split(',').map(each => each.trim()))
  return request => plainAddress(proxyAddr(request as IncomingMessage, trusts) ?? '')
}
