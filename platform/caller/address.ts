import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** An IPv4 address that is written as one of IPv6 (RFC 4291 §2.5.5.2). */
const mapped = /^::ffff:(?=\d+\.)/i

/** Normalizes an address for display and counting: an IPv4 address in any notation becomes dotted; other text stays unchanged. */
export const plainAddress = (written: string): string => written.replace(mapped, '')

/**
 * What one client can have of addresses: an IPv4 address, or a network of IPv6 with 64 bits, which is what a single connection gets.
 * Whatever is counted by address is counted under this.
 */
export function neighbourhoodOf(written: string): string {
  const address = plainAddress(written)
  if (!isIPv6(address)) return address
  // The part after % names a network interface of this machine.
  const { parts } = ipaddr.IPv6.parse(address.split('%', 1)[0]!)
  return parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')
}
