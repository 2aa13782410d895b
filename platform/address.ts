import { isIPv6 } from 'node:net'

/** An IPv4 address that is written as one of IPv6 (RFC 4291 §2.5.5.2). */
const mapped = /^::ffff:(?=\d+\.)/i

/**
 * What one client can have of addresses: an IPv4 address, or a network of IPv6 with 64 bits, which is what a single connection gets.
 * Whatever is counted by address is counted under this.
 */
export function neighbourhoodOf(written: string): string {
  const address = written.replace(mapped, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.split('%', 1)[0]!.split('::')
  const groups = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  // Only the first four of eight groups count, so it does not matter that the last may be written as IPv4.
  const gap = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after.length)
  return [...groups, ...Array<string>(gap).fill('0'), ...after]
    .slice(0, 4)
    .map(group => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':')
}
