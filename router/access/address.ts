import type { IncomingMessage } from 'node:http'
import proxyAddr from '@fastify/proxy-addr'
import { plainAddress } from '../../platform/caller/address.ts'

/** Returns the address that a request comes from, for WebSocket upgrades; for other requests Fastify determines it. */
export type AddressOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Reads addresses with the library that Fastify uses.
 * @param trustProxy whether `X-Forwarded-For` names the caller: true trusts all of it, a comma-separated list of
 * addresses and networks trusts the entries that these proxies wrote
 */
export function createAddressOf(trustProxy: boolean | string): AddressOf {
  const trusts = typeof trustProxy === 'boolean' ? () => trustProxy : proxyAddr.compile(trustProxy.split(',').map(each => each.trim()))
  return request => plainAddress(proxyAddr(request as IncomingMessage, trusts) ?? '')
}
