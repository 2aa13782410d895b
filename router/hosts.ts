import type { ServiceOrigin } from '../config/hosts.ts'
import type { Config } from '../config.ts'
import { type Slug, slugs } from '../subgraphs/scopes.ts'

/** Who a row of REST is for: programs, or people with a browser. */
export type Role = 'api' | 'web'

/** What the lists of addresses decide: which service a host is, where cookies count, which origins are ours. */
export interface Hosts {
  /** The first address of a service's own, beside the prefix; null where it has none. */
  originOf(slug: Slug): string | null
  /** The service that a Host header names; null for the platform's own host and for unknown ones. */
  serviceOf(host: string | null | undefined): Slug | null
  /** Whether this host is the marketing site's alone, where nobody looks after an account. */
  isMarketing(host: string | null | undefined): boolean
  /** Whether pages are served on this host, so that its cookies count. */
  isWeb(host: string | null | undefined): boolean
  /**
   * Whether a row is answered on a host: with its prefix those for programs everywhere, pages wherever cookies may count; without it each
   * where the service has a host of that role.
   * @param short whether the prefix was left out
   */
  answers(host: string | null | undefined, role: Role, short: boolean): boolean
  /** The address of a path of a service, written without its prefix, where its role has a host; else under the prefix, on the platform's own. */
  addressOf(slug: Slug, role: Role, path: string): string
  /**
   * Where a service is found, by role: the first host of each that it has; paths follow without its prefix. Programs find it without one
   * too, under the prefix, and also where its only host is a name of this machine. `callback` is where a browser goes on that comes with a
   * sign-in from elsewhere.
   */
  addressesOf(slug: Slug): Readonly<Record<string, string>>
  /** Origins of the hosts on which pages of a service stand, the platform's own first. */
  pages(): readonly string[]
  /** Whether a host is one of those that the lists name, in whatever role. */
  knows(host: string): boolean
  /** Whether an Origin header names a page that may read answers and send the session cookie. */
  trusts(origin: string): boolean
}

/** Whose pages are trusted beside those of the platform and its services. */
export interface Guests {
  /** Origins as browsers write them. */
  readonly origins?: readonly string[]
  /** Every page of this machine, on whatever port: for development. */
  readonly loopback?: boolean
}

/** An Origin header that names this machine: browsers take no other place for a name that ends in `localhost`. */
const loopbackOrigin = /^https?:\/\/(?:(?:[a-z\d-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/

/** The lists as configuration tells them; in development the pages of this machine are trusted. */
export const hostsOf = ({
  publicUrl,
  environment,
  corsOrigins,
  serviceOrigins,
}: Pick<Config, 'publicUrl' | 'environment' | 'corsOrigins' | 'serviceOrigins'>) =>
  createHosts(publicUrl, serviceOrigins, { origins: corsOrigins, loopback: environment === 'development' })

/** Puts the lists into the form that doors ask. Names are compared in lower case and without the port. */
export function createHosts(publicUrl: string, origins: readonly ServiceOrigin[], guests: Guests = {}): Hosts {
  const services = new Map<string, Slug>()
  const web = new Set<string>()
  const api = new Set<string>()
  const trusted = new Set<string>(guests.origins)
  const own = new URL(publicUrl)
  // The loopback interface has three names: opening the platform by its address means the same host.
  const ownNames = own.hostname === 'localhost' ? ['localhost', '127.0.0.1', '[::1]'] : [own.hostname]
  for (const name of ownNames) {
    web.add(name)
    trusted.add(`${own.protocol}//${name}${own.port && `:${own.port}`}`)
  }
  for (const each of origins) {
    const url = new URL(each.origin)
    services.set(url.hostname, each.slug)
    const names = each.role === 'api' ? api : web
    names.add(url.hostname)
    trusted.add(url.origin)
  }
  const namesAs = (isMarketing: boolean) =>
    new Set(origins.filter(({ role }) => role !== 'api' && (role === 'marketing') === isMarketing).map(({ origin }) => new URL(origin).hostname))
  const marketing = namesAs(true).difference(namesAs(false))
  return {
    originOf: slug => origins.find(each => each.slug === slug)?.origin ?? null,
    serviceOf: host => services.get(nameOf(host)) ?? null,
    isMarketing: host => marketing.has(nameOf(host)),
    isWeb: host => web.has(nameOf(host)),
    answers(host, role, short) {
      const name = nameOf(host)
      if (short) return (role === 'api' ? api : web).has(name)
      return role === 'api' || web.has(name) || !services.has(name)
    },
    addressOf(slug, role, path) {
      const own = origins.find(each => each.slug === slug && (each.role === 'api') === (role === 'api'))
      return own ? `${own.origin}${path}` : `${publicUrl}/${slug}${path}`
    },
    addressesOf(slug) {
      const own = origins.filter(each => each.slug === slug && !(each.role === 'api' && each.isLocal))
      const named = Object.fromEntries(own.map(({ role, origin }) => [role, origin]).reverse())
      return { api: `${publicUrl}/${slug}`, ...named, callback: `${named.web ?? named.dashboard ?? `${publicUrl}/${slug}`}/callback` }
    },
    pages: () => [...new Set([own.origin, ...origins.filter(({ slug, role }) => slug !== 'identity' && role !== 'api').map(({ origin }) => origin)])],
    knows: host => web.has(nameOf(host)) || services.has(nameOf(host)),
    trusts: origin => trusted.has(origin.toLowerCase()) || (guests.loopback === true && loopbackOrigin.test(origin.toLowerCase())),
  }
}

const nameOf = (host: string | null | undefined): string => (host ?? '').toLowerCase().replace(/:\d+$/, '')

/** What on the marketing site's hosts is no page of it: rows, and what carries the prefix of a service. */
const rowsOfMarketing = /^\/(?:api|identity|publishing|agents|payments|launcher|providers)(?:[/?#]|$)/

/** Paths that mean the same on every host. */
const everywhere = /^\/(?:(?:graphql|health|metrics|docs|explorer|icons|assets|openapi\.json|\.well-known)(?:[/?#]|$)|[?#]|$)/

/** Services whose pages find identity's `/api/auth/*` on their own web hosts, with that host's cookie. */
const passing: ReadonlySet<Slug> = new Set(['publishing', 'launcher'])

/** Of what is passed on, the rows that keep the admin session of the marketing site. Accounts are made and looked after on other hosts. */
const marketingRows: ReadonlySet<string> = new Set(['sign-in/email', 'sign-out', 'token', 'me'].map(row => `/api/auth/${row}`))

/** Whether a path below `/api/auth/`, asked for without a prefix, is shut on this host. */
export const isShutOn = (hosts: Hosts, host: string | null | undefined, url: string): boolean =>
  url.startsWith(passedPath) && hosts.isMarketing(host) && !marketingRows.has(url.split('?', 1)[0]!)

/** What is passed on there. */
export const passedPath = '/api/auth/'

/** Whether a path without prefix means identity's on this host, unless the service has a row of its own there. */
export const passesOn = (hosts: Hosts, host: string | null | undefined, url: string): boolean => {
  if (!url.startsWith(passedPath)) return false
  const slug = hosts.serviceOf(host)
  return slug !== null && passing.has(slug) && hosts.isWeb(host)
}

/**
 * The canonical path of a request: on a service's host the service's prefix may be left out. Paths that carry the prefix
 * of a service, or mean the same everywhere, stay as they are.
 * @param isOwn whether a service answers a path, written without its prefix, by a row of its own @default none does
 */
export function canonicalPath(hosts: Hosts, host: string | undefined, url: string, isOwn: (slug: Slug, path: string) => boolean = () => false): string {
  const slug = hosts.serviceOf(host)
  if (slug === null || everywhere.test(url)) return url
  if (hosts.isMarketing(host) && !rowsOfMarketing.test(url)) return /^\/marketing(?:[/?#]|$)/.test(url) ? url : `/marketing${url}`
  if (passesOn(hosts, host, url) && !isOwn(slug, url.split('?', 1)[0]!)) return `/identity${url}`
  const first = /^\/([^/?#]*)/.exec(url)?.[1]
  return (slugs as readonly string[]).includes(first ?? '') ? url : `/${slug}${url}`
}
