import { BlockList, isIP, type LookupFunction } from 'node:net'
import { DomainError } from '../errors.ts'
import { notPublicCode, OutboundFailure } from './failure.ts'
import { createNames, ofThisMachine, type ResolveName, resolveOwn, unansweredCode } from './names.ts'

/** Address ranges without public services (RFC 6890): a request there could serve an attacker. */
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

/**
 * Ranges of IPv6 that may be public: those allocated to networks (RFC 4291), and IPv4 in IPv6 notation. All others are
 * not.
 */
const perhapsPublic = new BlockList()
perhapsPublic.addSubnet('2000::', 3, 'ipv6')
perhapsPublic.addSubnet('::ffff:0:0', 96, 'ipv6')

/** Whether an IP address is public; IPv4 in IPv6 notation counts as IPv4. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !notPublic.check(address, 'ipv4')
  return family === 6 && perhapsPublic.check(address, 'ipv6') && !notPublic.check(address, 'ipv6')
}

/**
 * Matches names that only private networks resolve: those without a dot, the special ones of RFC 6761, 6762 and 8375,
 * and those that private networks commonly use (RFC 6762, appendix G, and hosts files).
 */
const ofOwnNetwork = /^[^.]+\.?$|(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)\.?$/i

/**
 * Whether an address looks public by its text alone: for addresses that are passed to others, whose resolver decides.
 */
export function looksPublic({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? isPublicAddress(host) : !ofOwnNetwork.test(host)
}

/**
 * Creates a resolver for connections that returns public addresses only. It runs for each connection, which uses
 * exactly the returned addresses: changing the name's address in between has no effect.
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
 * Whether a third party's address may be called: not if it is private, or its name resolves to a private one.
 * @throws OutboundFailure of kind `late` when the name is not resolved in time: the address must then be neither stored
 * nor called
 */
export type Reaches = (address: URL) => Promise<boolean>

/** Time limit in ms of a lookup. */
const lookMs = 3_000

/** Options of the check whether an address may be called. */
export interface ReachesOptions {
  /** @default DNS servers, see `createNames` */
  readonly resolve?: ResolveName | undefined
  /**
   * Origins from the operator's other settings: resolved as by every program of the machine, and not called unless they
   * are public.
   */
  readonly reserved?: readonly string[]
  /** @default the system's */
  readonly resolveReserved?: ResolveName
}

/**
 * Creates the check for addresses that are stored for later calls. An unknown name passes: every connection resolves it
 * again, and goes only to what it found. A name without an answer does not pass.
 * @param allowedOrigins configured origins that may have a private address
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

/**
 * Converts an unanswered lookup to an error about the argument; other errors are passed on. @param field the argument
 */
export const unanswered =
  (field: string) =>
  (error: unknown): never => {
    if (!(error instanceof OutboundFailure)) throw error
    throw new DomainError('BAD_USER_INPUT', `${field} has a name that cannot be looked up: ${error.message}.`, { field, reason: 'NAME_UNANSWERED' })
  }
