import { type LookupAllOptions, lookup as resolveName } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, request } from 'undici'
import { traced } from './caller/trace.ts'

/** HTTP to third parties: the only way out of the platform. */
export type Outbound = (url: string | URL, options?: OutboundOptions) => Promise<OutboundAnswer>

export interface OutboundOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Until the whole answer is there. @default 10000 */
  readonly timeoutMs?: number
  /**
   * Opens a connection of its own, for calls that must not be repeated: a kept-alive one may be closed by the other side
   * in the very moment we write, and nobody could tell whether the call arrived. @default false
   */
  readonly freshConnection?: boolean
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Headers
  /** The body as text, at most 1 MiB. */
  readonly text: string
}

/** No answer came. `sent` false: nothing reached the other side. True: it may have acted, the outcome is unknown. */
export class OutboundFailure extends Error {
  readonly sent: boolean
  constructor(message: string, sent: boolean, cause?: unknown) {
    super(message, { cause })
    this.name = 'OutboundFailure'
    this.sent = sent
  }
}

/** What an address that leads to no public place fails with. */
const notPublicCode = 'ENOTPUBLIC'

/** Whether the address itself was refused: asking it again leads nowhere else. */
export const isRefusedAddress = (error: unknown): boolean =>
  error instanceof OutboundFailure && (error.cause as { readonly code?: string } | undefined)?.code === notPublicCode

const largestAnswer = 1024 * 1024

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
  // Forms of IPv6 that lead to an IPv4 address (6to4, Teredo), and documentation. What is no global unicast is refused below.
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

/** Names of this machine, whatever a resolver says (RFC 6761). */
const ofThisMachine = /(?:^|\.)localhost\.?$/i

/** Finds the addresses of a name, as `lookup` of node:dns does. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void

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

/** Whether a third party at an address may be called: one that lies on a private address may not, nor one whose name leads there. */
export type Reaches = (address: URL) => Promise<boolean>

/** How long a name is looked for, in ms. */
const lookMs = 3_000

/**
 * Tells whoever keeps an address for later at once that it will not be called. A name that cannot be found now is let pass: every
 * connection looks again.
 * @param allowedOrigins origins that configuration names: whoever listens there may lie on a private address
 */
export function createReaches(allowedOrigins: readonly string[], resolve: ResolveName = resolveName): Reaches {
  const placeOf = ({ protocol, hostname, port }: URL) => `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
  const trusted = new Set(allowedOrigins.map(origin => placeOf(new URL(origin))))
  return async address => {
    if (trusted.has(placeOf(address))) return true
    const host = address.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host)) return isPublicAddress(host)
    if (ofThisMachine.test(host)) return false
    const found = Promise.withResolvers<readonly { readonly address: string }[]>()
    const timer = setTimeout(() => found.resolve([]), lookMs)
    resolve(host, { all: true }, (error, addresses) => found.resolve(error ? [] : addresses))
    const addresses = await found.promise.finally(() => clearTimeout(timer))
    return addresses.length === 0 || addresses.some(each => isPublicAddress(each.address))
  }
}

/**
 * Opens connections, and notes every error that comes before one stands, its TLS handshake included: a request is written only then,
 * so nothing of it was sent. No list of error codes could say so: a reset means one thing in a handshake, another after it.
 */
function noteUnsent(unsent: WeakSet<Error>, options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, done) =>
    connect(target, (...[error, socket]) => {
      if (!error) return done(null, socket!)
      unsent.add(error)
      done(error, null)
    })
}

/**
 * Makes the way out: one request at a time, no retry, no redirect followed, time-outs on everything.
 * @param allowedOrigins origins that configuration names: only these may lie on a private address
 * @param resolve        finds addresses of names for all others @default the system's
 */
export function createOutbound(allowedOrigins: readonly string[], resolve: ResolveName = resolveName): Outbound & { close(): Promise<void> } {
  const trusted = new Set(allowedOrigins.map(origin => new URL(origin).origin))
  // More than what calls one origin at once: a call that waits for a connection would use its time up, and count as sent.
  const options = { connections: 128 }
  const unsent = new WeakSet<Error>()
  const open = noteUnsent(unsent, { timeout: 5000 })
  const openPublic = noteUnsent(unsent, { timeout: 5000, lookup: onlyPublic(resolve) })
  const agents = {
    trusted: new Agent({ ...options, connect: open }),
    trustedFresh: new Agent({ ...options, pipelining: 0, connect: open }),
    guarded: new Agent({ ...options, connect: openPublic }),
    guardedFresh: new Agent({ ...options, pipelining: 0, connect: openPublic }),
  }
  const send: Outbound = async (url, { method = 'GET', headers = {}, body, timeoutMs = 10_000, freshConnection = false } = {}) => {
    const target = new URL(url)
    const isTrusted = trusted.has(target.origin)
    const refuse = (why: string) => new OutboundFailure(why, false, { code: notPublicCode })
    if (target.protocol !== 'https:' && target.protocol !== 'http:') throw refuse(`${target.protocol} is not a way to reach a third party`)
    const host = target.hostname.replace(/^\[|\]$/g, '')
    if (!isTrusted && isIP(host) && !isPublicAddress(host)) throw refuse(`${target.origin} is not a public address`)
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const answer = await request(target, {
        method: method as 'GET',
        headers: { 'user-agent': 'supergraph', ...headers },
        body: body ?? null,
        signal: deadline,
        dispatcher: agents[`${isTrusted ? 'trusted' : 'guarded'}${freshConnection ? 'Fresh' : ''}`],
      })
      const parts: Buffer[] = []
      let size = 0
      for await (const part of answer.body as AsyncIterable<Buffer>) {
        size += part.length
        if (size > largestAnswer) throw new OutboundFailure(`${target.origin} answered with more than ${largestAnswer} bytes`, true)
        parts.push(part)
      }
      const found = new Headers()
      for (const [name, value] of Object.entries(answer.headers)) for (const one of [value ?? []].flat()) found.append(name, one)
      return { status: answer.statusCode, headers: found, text: Buffer.concat(parts).toString('utf8') }
    } catch (error) {
      if (error instanceof OutboundFailure) throw error
      const code = (error as { code?: string }).code ?? ''
      const reason = deadline.aborted ? `no answer within ${timeoutMs} ms` : code || (error as Error).message
      throw new OutboundFailure(`${target.origin} could not be asked: ${reason}`, !unsent.has(error as Error), error)
    }
  }
  // Third parties are told nothing of the trace.
  const traceable: Outbound = (url, options) => traced(`${options?.method ?? 'GET'} ${new URL(url).host}`, 'client', {}, () => send(url, options))
  return Object.assign(traceable, { close: async () => void (await Promise.all(Object.values(agents).map(agent => agent.close()))) })
}
