import { type LookupAllOptions, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { causeNow, organizationNow } from '../caller/cause.ts'
import { createPlaces } from '../caller/places.ts'

/** Finds the addresses of a name, as `lookup` of node:dns does. */
export type ResolveName = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void,
) => void

/** A resolved address of a host name, as `lookup` of node:dns returns it. */
export interface FoundAddress {
  readonly address: string
  readonly family: number
}

/** Options of name resolution. */
export interface NamesOptions {
  /** DNS servers: `192.0.2.53`, `192.0.2.53:5353`. @default those of the machine */
  readonly servers?: readonly string[] | null
  /** A hosts file whose addresses take precedence over DNS. @default /etc/hosts */
  readonly hostsFile?: string
  /** Time limit in ms for waiting until a lookup starts, and again for the servers' answer. @default 3000 */
  readonly timeoutMs?: number
  /** Maximum concurrent lookups: for one organization, and in all. @default 8 and 256 */
  readonly atOnce?: { readonly ofOne: number; readonly inAll: number }
}

/** Error code of a lookup without an answer in time: the addresses are unknown. */
export const unansweredCode = 'ETIMEOUT'

/** Matches names of this machine, whatever a resolver answers (RFC 6761). */
export const ofThisMachine = /(?:^|\.)localhost\.?$/i

const loopback: readonly FoundAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/**
 * Maximum number of cached names, maximum cache time, and cache time of missing names and of lookups without answer, in
 * ms.
 */
const maxNames = 2_000
const maxRememberedMs = 30_000
const missingMs = 2_000
const unansweredMs = 5_000

/** Time limit in ms for the second address family once one is known (RFC 8305, 3, has 50 for connections). */
const graceMs = 200
/** Time in ms for which the hosts file is cached. */
const hostsMs = 5_000
/** Maximum waiting lookups of one organization: further ones fail as unanswered. */
const maxWaitingOfOne = 32

const failure = (host: string, code: string): NodeJS.ErrnoException => Object.assign(new Error(`${host} could not be resolved: ${code}`), { code })

type Answer = { readonly addresses: readonly FoundAddress[]; readonly ttl: number } | { readonly code: string }

/** Queries both address families; waits for `ms`, or shortly after the first answer. */
async function askServers(host: string, servers: readonly string[] | null, ms: number): Promise<Answer> {
  // Each lookup has a resolver of its own: cancelling one does not cancel the others.
  const resolver = new Resolver({ timeout: 1_000, tries: 3 })
  if (servers) resolver.setServers(servers)
  const leave = () => resolver.cancel()
  const timers = [setTimeout(leave, ms)]
  const ask = async (family: 4 | 6) => {
    try {
      const found = await (family === 4 ? resolver.resolve4(host, { ttl: true }) : resolver.resolve6(host, { ttl: true }))
      if (found.length > 0) timers.push(setTimeout(leave, graceMs))
      return { found: found.map(({ address, ttl }) => ({ address, ttl, family })) }
    } catch (error) {
      return { found: [], code: (error as NodeJS.ErrnoException).code ?? 'ENOTFOUND' }
    }
  }
  // IPv4 first: without IPv6 on the machine, IPv6 addresses would be tried in vain.
  const both = await Promise.all([ask(4), ask(6)]).finally(() => {
    for (const timer of timers) clearTimeout(timer)
  })
  const found = both.flatMap(each => each.found)
  if (found.length > 0) return { addresses: found.map(({ address, family }) => ({ address, family })), ttl: Math.min(...found.map(({ ttl }) => ttl)) }
  const codes = both.map(({ code }) => code ?? 'ENODATA')
  return { code: codes.some(code => code === 'ETIMEOUT' || code === 'ECANCELLED') ? unansweredCode : codes[0]! }
}

/** Reads a hosts file, again when it may have changed; a missing file has no names. */
function createHosts(path: string): (host: string) => Promise<readonly FoundAddress[] | undefined> {
  let readAt = Number.NEGATIVE_INFINITY
  let entries: Promise<ReadonlyMap<string, FoundAddress[]>> = Promise.resolve(new Map())
  const read = async () => {
    const found = new Map<string, FoundAddress[]>()
    for (const line of (await readFile(path, 'utf8').catch(() => '')).split('\n')) {
      const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
      const family = isIP(address)
      if (family === 0) continue
      for (const name of names.map(each => each.toLowerCase())) found.set(name, [...(found.get(name) ?? []), { address, family }])
    }
    return found
  }
  return async host => {
    if (performance.now() - readAt > hostsMs) {
      readAt = performance.now()
      entries = read()
    }
    return (await entries).get(host)
  }
}

/** Returns the party of a lookup: the organization of the present work, else the caller, else the name's domain. */
const askerOf = (host: string): string => organizationNow() ?? causeNow()?.caller ?? host.split('.').slice(-2).join('.')

/**
 * Creates the resolver of names that callers give. It queries DNS servers itself, outside the event loop's thread pool:
 * an unanswered name delays nothing else, and is given up in time. A party with many names waits only for its own.
 */
export function createNames(options: NamesOptions = {}): ResolveName {
  const { servers = null, hostsFile = '/etc/hosts', timeoutMs = 3_000, atOnce = { ofOne: 8, inAll: 256 } } = options
  const known = new LRUCache<string, Answer>({ max: maxNames })
  const underWay = new Map<string, Promise<Answer>>()
  const hosts = createHosts(hostsFile)
  const places = createPlaces({ all: atOnce.inAll, ofParty: atOnce.ofOne, waiting: maxWaitingOfOne })

  const keep = (host: string, answer: Answer) => {
    const ms =
      'addresses' in answer ? Math.max(1_000, Math.min(maxRememberedMs, 1_000 * answer.ttl)) : answer.code === unansweredCode ? unansweredMs : missingMs
    known.set(host, answer, { ttl: ms })
    return answer
  }
  const at = (host: string) => known.get(host) ?? underWay.get(host)

  async function find(host: string): Promise<Answer> {
    if (ofThisMachine.test(host)) return { addresses: loopback, ttl: 0 }
    const written = await hosts(host)
    if (written) return { addresses: written, ttl: 0 }
    const before = at(host)
    if (before) return before
    const asker = askerOf(host)
    try {
      const place = places.enter(asker, { signal: undefined, until: performance.now() + timeoutMs })
      if (place) await place
    } catch {
      // The lookup's wait for a free place timed out, or too many names of the same caller wait.
      return { code: unansweredCode }
    }
    try {
      // Another caller may have looked the name up meanwhile. A caller that waited long still gets the full time: others may share the
      // answer.
      const asked = at(host) ?? askServers(host, servers, timeoutMs).then(answer => keep(host, answer))
      if (asked instanceof Promise && !underWay.has(host)) underWay.set(host, asked)
      return await asked
    } finally {
      underWay.delete(host)
      places.leave(asker)
    }
  }

  return (hostname, { family }, done) => {
    const host = hostname.toLowerCase().replace(/\.$/, '')
    find(host).then(
      answer => {
        if ('code' in answer) return done(failure(host, answer.code), [])
        const wanted = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : 0
        const addresses = wanted === 0 ? answer.addresses : answer.addresses.filter(each => each.family === wanted)
        if (addresses.length === 0) return done(failure(host, 'ENODATA'), [])
        done(
          null,
          addresses.map(each => ({ ...each })),
        )
      },
      error => done(error as NodeJS.ErrnoException, []),
    )
  }
}

/**
 * Resolves a name from the operator's settings like every program of this machine: by its hosts file and search
 * domains.
 */
export const resolveOwn: ResolveName = (hostname, options, done) => lookup(hostname, options, done)
