import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Matches an IPv4 address in IPv6 notation (RFC 4291 §2.5.5.2). */
const mapped = /^::ffff:(?=\d+\.)/i

/** Normalizes an address for display and counting: an IPv4 address in any notation becomes dotted; other text stays unchanged. */
export const plainAddress = (written: string): string => written.replace(mapped, '')

/**
 * Returns the address range of one client: an IPv4 address, or an IPv6 network of 64 bits, which is what a single
 * connection gets. All counts by address use it.
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
