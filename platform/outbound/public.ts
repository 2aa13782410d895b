import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Refusal } from '../errors.ts'
import { notPublicCode, OutboundFailure } from './failure.ts'
import { createNames, ofThisMachine, type ResolveName, resolveOwn, unansweredCode } from './names.ts'

/** Addresses that are nobody's public service (RFC 6890): a request there would be made on behalf of an attacker. */
const notPublic = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  notPublic.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  // IPv6 forms that lead to an IPv4 address (6to4, Teredo), and documentation addresses. Addresses outside global unicast are refused
  // below.
  ['2002::', 16],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
] as const)
  notPublic.addSubnet(net, bits, 'ipv6')

/** What of IPv6 may be public at all: what is given out to networks (RFC 4291), and IPv4 as IPv6 writes it. Whatever else there is, is not. */
const perhapsPublic = new BlockList()
perhapsPublic.addSubnet('2000::', 3, 'ipv6')
perhapsPublic.addSubnet('::ffff:0:0', 96, 'ipv6')

/** Whether an IP address is a public one; IPv4 inside IPv6 counts as the IPv4 that it is. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notPublic.check(address, 'ipv4')
  return family === 6 && perhapsPublic.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

/** Names that only a network of one's own resolves: those without a dot, and the special ones of RFC 6761, 6762, 8375 and 9476's registry (`internal`). */
const ofOwnNetwork = /^[^.]+\.?$|(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/i

/** Whether what an address says of itself leads to a public place: for addresses that are handed on to others, whose resolver decides. */
export function looksPublic({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? isPublicAddress(host) : !ofOwnNetwork.test(host)
}

/**
 * Makes what connections find addresses by, when they may lead to public ones only. It is asked for each connection, and what it
 * answers is what is connected to: a name that changes its address in between gains nothing.
 */
export const onlyPublic =
  (resolve: ResolveName): LookupFunction =>
  (hostname, options, done) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [])
      const allowed = addresses.filter(({ address }) => isPublicAddress(address))
      if (!allowed.length) return done(Object.assign(new Error(`${hostname} has no public address`), { code: notPublicCode }), [])
      if (options.all) return done(null, allowed)
      return done(null, allowed[0]!.address, allowed[0]!.family)
    })

/**
 * Whether a third party at an address may be called: one that lies on a private address may not, nor one whose name leads there.
 * @throws OutboundFailure of kind `late` when nobody says in time where its name leads: it may not be kept, and not called
 */
export type Reaches = (address: URL) => Promise<boolean>

/** How long a name is looked for, in ms. */
const lookMs = 3_000

/** How names are found when it is told beforehand whether an address may be called. */
export interface ReachesOptions {
  /** @default servers of DNS, as `createNames` asks them */
  readonly resolve?: ResolveName | undefined
  /** Origins that the operator's other settings name: found as every program of the machine does, and not called unless they are public. */
  readonly reserved?: readonly string[]
  /** @default the system's */
  readonly resolveReserved?: ResolveName
}

/**
 * Tells whoever keeps an address for later at once that it will not be called. A name that nobody knows now is let pass: every connection
 * looks again, and goes to what it found. One that nobody answers for is not.
 * @param allowedOrigins origins that configuration names: whoever listens there may lie on a private address
 */
export function createReaches(
  allowedOrigins: readonly string[],
  { resolve = createNames(), reserved = [], resolveReserved = resolveOwn }: ReachesOptions = {},
): Reaches {
  const placeOf = ({ protocol, hostname, port }: URL) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  const placesOf = (origins: readonly string[]) => new Set(origins.map(origin => placeOf(new URL(origin))))
  const [trusted, own] = [placesOf(allowedOrigins), placesOf(reserved)]
  return async address => {
    const place = placeOf(address)
    if (trusted.has(place)) return true
    const host = address.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host)) return isPublicAddress(host)
    if (ofThisMachine.test(host)) return false
    const isOwn = own.has(place)
    const found = Promise.withResolvers<readonly { readonly address: string }[] | null>()
    const timer = setTimeout(() => found.resolve(null), lookMs)
    const look = isOwn ? resolveReserved : resolve
    look(host, { all: true }, (error, addresses) => found.resolve(error?.code === unansweredCode ? null : error ? [] : addresses))
    const addresses = await found.promise.finally(() => clearTimeout(timer))
    if (addresses === null)
      throw new OutboundFailure(`no server of DNS says where ${host} lies: name one that answers, or come again`, false, { code: unansweredCode }, 'late')
    // The HTTP client trusts origins named in the settings, so it would not check again when it connects.
    return addresses.some(each => isPublicAddress(each.address)) || (addresses.length === 0 && !isOwn)
  }
}

/** Refuses the argument whose name nobody answered for; whatever else went wrong is passed on. @param field the argument */
export const unanswered =
  (field: string) =>
  (error: unknown): never => {
    if (!(error instanceof OutboundFailure)) throw error
    throw new Refusal('BAD_USER_INPUT', `${field} has a name that cannot be looked up: ${error.message}.`, { field, reason: 'NAME_UNANSWERED' })
  }
