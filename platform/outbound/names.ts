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

/** An address of a name, as `lookup` of node:dns tells it. */
export interface FoundAddress {
  readonly address: string
  readonly family: number
}

/** How names are found. */
export interface NamesOptions {
  /** Servers of DNS: `192.0.2.53`, `192.0.2.53:5353`. @default those of the machine */
  readonly servers?: readonly string[] | null
  /** A file of names whose addresses count before those of DNS. @default /etc/hosts */
  readonly hostsFile?: string
  /** How long a name may wait for its place, and how long servers may take then, in ms. @default 3000 */
  readonly timeoutMs?: number
  /** How many names are looked for at once: for one organization, and in all. @default 8 and 256 */
  readonly atOnce?: { readonly ofOne: number; readonly inAll: number }
}

/** What a name fails with that nobody answered for in time. Nothing is known of where it leads. */
export const unansweredCode = 'ETIMEOUT'

/** Names of this machine, whatever a resolver says (RFC 6761). */
export const ofThisMachine = /(?:^|\.)localhost\.?$/i

const loopback: readonly FoundAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** How many names are remembered, how long at most, and how long it is remembered that there is none or that nobody answered, in ms. */
const maxNames = 2_000
const maxRememberedMs = 30_000
const missingMs = 2_000
const unansweredMs = 5_000

/** How long the other family of addresses may take once one is known (RFC 8305, 3, has 50 for connections), in ms. */
const graceMs = 200
/** How long the file of names is taken as it was read, in ms. */
const hostsMs = 5_000
/** How many names of one organization wait at most: what comes beyond is not answered for. */
const maxWaitingOfOne = 32

const failure = (host: string, code: string): NodeJS.ErrnoException => Object.assign(new Error(`${host} could not be resolved: ${code}`), { code })

type Answer = { readonly addresses: readonly FoundAddress[]; readonly ttl: number } | { readonly code: string }

/** Asks for both families of addresses; after `ms`, or soon after the first of them has come, no more is waited for. */
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

/** Reads a file of names, again when it may have changed; one that is not there names nothing. */
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

/** Whose question it is: the organization's that is worked for, else the caller's, else that of whose the name is. */
const askerOf = (host: string): string => organizationNow() ?? causeNow()?.caller ?? host.split('.').slice(-2).join('.')

/**
 * Makes what finds the addresses of names that callers gave. It asks servers of DNS itself, beside the event loop's pool of threads: a name
 * that nobody answers for holds up nothing else, and is given up in time. Whoever names many of them waits for their own.
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
      // No place was free in time, or too many names of the asker wait.
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

/** Finds the addresses of a name that the operator's settings give, as every program of this machine does: by its file of names and its search domains. */
export const resolveOwn: ResolveName = (hostname, options, done) => lookup(hostname, options, done)
