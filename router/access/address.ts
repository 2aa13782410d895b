import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'

/** Tells the address that a request comes from, for upgrades: of other requests Fastify tells it. */
export type AddressOf = (request: Pick<IncomingMessage, 'headers' | 'socket'>) => string

/**
 * Reads addresses as Fastify does.
 * @param trustProxy whether `X-Forwarded-For` names the caller: true believes it whole, a list of addresses and networks, with commas
 * between them, as far as it was written by these
 */
export function createAddressOf(trustProxy: boolean | string): AddressOf {
  const trusts = trustOf(trustProxy)
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? '')
    const named = String(headers['x-forwarded-for'] ?? '')
      .split(',')
      .map(each => plain(each.trim()))
      .filter(each => each !== '')
    while (named.length > 0 && trusts(address)) address = named.pop()!
    return address
  }
}

function trustOf(trustProxy: boolean | string): (address: string) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy
  const list = new BlockList()
  for (const each of trustProxy.split(',')) {
    const [address = '', bits] = each.trim().split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return address => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')
