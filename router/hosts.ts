import type { ServiceOrigin } from '../config/hosts.ts'
import type { Config } from '../config.ts'
import { type Slug, slugs } from '../subgraphs/scopes.ts'

/** Audience of a REST route: programs, people with a browser, or visitors of the marketing site. */
export type Role = 'api' | 'web' | 'marketing'

/**
 * Answers questions that depend on the configured addresses: which service a host belongs to, where cookies are valid,
 * which origins are trusted.
 */
export interface Hosts {
  /** Returns the first address of a service's own hosts, besides the prefix; null where it has none. */
  originOf(slug: Slug): string | null
  /** Returns the service that a Host header names; null for the platform's own host and for unknown ones. */
  serviceOf(host: string | null | undefined): Slug | null
  /** Whether this host belongs to the marketing site alone, which has no account pages. */
  isMarketing(host: string | null | undefined): boolean
  /** Whether pages are served on this host, so that its cookies are valid. */
  isWeb(host: string | null | undefined): boolean
  /**
   * Whether a route is answered on a host: with the service's prefix, routes for programs on every host and pages on
   * every web host; without it, each where the service has a host for that audience. Routes of the marketing site are
   * answered like those for programs, and without the prefix on its own hosts alone.
   * @param short whether the prefix was omitted
   */
  answers(host: string | null | undefined, role: Role, short: boolean): boolean
  /**
   * Returns the address of a path of a service, written without its prefix, where the service has a host for the
   * audience; else under the prefix, on the platform's own host.
   */
  addressOf(slug: Slug, role: Role, path: string): string
  /**
   * Returns the addresses of a service by audience: its first host for each; paths follow without the prefix. Programs
   * also find it under the prefix on the platform's host. `callback` is where a browser returns to after a sign-in
   * elsewhere.
   */
  addressesOf(slug: Slug): Readonly<Record<string, string>>
  /** Origins of the hosts that serve pages of a service, the platform's own first. */
  pages(): readonly string[]
  /** Whether a host is configured, for any audience. */
  knows(host: string): boolean
  /** Whether an Origin header names a page that may read answers and send the session cookie. */
  trusts(origin: string): boolean
}

/** Trusted origins besides those of the platform and its services. */
export interface Guests {
  /** Origins as browsers write them. */
  readonly origins?: readonly string[]
  /** Whether pages of this machine are trusted, on any port: for development. */
  readonly loopback?: boolean
}

/** Matches an Origin header of this machine: browsers resolve names that end in `localhost` to it only. */
const loopbackOrigin = /^https?:\/\/(?:(?:[a-z\d-]+\.)*localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/

/** Creates the hosts from the configuration; in development the pages of this machine are trusted. */
export const hostsOf = ({
  publicUrl,
  environment,
  corsOrigins,
  serviceOrigins,
}: Pick<Config, 'publicUrl' | 'environment' | 'corsOrigins' | 'serviceOrigins'>) =>
  createHosts(publicUrl, serviceOrigins, { origins: corsOrigins, loopback: environment === 'development' })

/** Indexes the configured addresses. Host names are compared in lower case and without the port. */
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
  const withMarketing = namesAs(true)
  const marketing = withMarketing.difference(namesAs(false))
  return {
    originOf: slug => origins.find(each => each.slug === slug)?.origin ?? null,
    serviceOf: host => services.get(nameOf(host)) ?? null,
    isMarketing: host => marketing.has(nameOf(host)),
    isWeb: host => web.has(nameOf(host)),
    answers(host, role, short) {
      const name = nameOf(host)
      if (short) return { api, web, marketing: withMarketing }[role].has(name)
      return role !== 'web' || web.has(name) || !services.has(name)
    },
    addressOf(slug, role, path) {
      const fits = (each: ServiceOrigin) => (role === 'marketing' ? each.role === role : (each.role === 'api') === (role === 'api'))
      const own = origins.find(each => each.slug === slug && fits(each))
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

/** Paths on the marketing site's hosts that are not its pages: API routes, and paths with the prefix of a service. */
const rowsOfMarketing = /^\/(?:api|identity|publishing|agents|payments|launcher|providers)(?:[/?#]|$)/

/** Paths with the same meaning on every host. Only drawings of services are among `/icons`: the launcher has a route for those of apps. */
const everywhere = /^\/(?:(?:graphql|health|metrics|docs|explorer|assets|openapi\.json|\.well-known)(?:[/?#]|$)|icons\/[a-z]+\.svg(?:[?#]|$)|[?#]|$)/

/** Services that forward `/api/auth/*` on their web hosts to identity, with that host's cookie. */
const passing: ReadonlySet<Slug> = new Set(['publishing', 'launcher'])

/** Forwarded routes that the marketing site's admin session needs. Accounts are created and edited on other hosts. */
const marketingRows: ReadonlySet<string> = new Set(['sign-in/email', 'sign-out', 'token', 'me'].map(row => `/api/auth/${row}`))

/** Whether a path below `/api/auth/`, requested without a prefix, is closed on this host. */
export const isShutOn = (hosts: Hosts, host: string | null | undefined, url: string): boolean =>
  url.startsWith(passedPath) && hosts.isMarketing(host) && !marketingRows.has(url.split('?', 1)[0]!)

/** Pages of a service that begin with the service's own name, as written without its prefix: the list of agents, and one agent. */
const namesake = /^\/agents(?:\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?(?:[?#]|$)/i

/** Path prefix that is forwarded there. */
export const passedPath = '/api/auth/'

/** Whether a path without prefix belongs to identity on this host, unless the service has a route of its own there. */
export const passesOn = (hosts: Hosts, host: string | null | undefined, url: string): boolean => {
  if (!url.startsWith(passedPath)) return false
  const slug = hosts.serviceOf(host)
  return slug !== null && passing.has(slug) && hosts.isWeb(host)
}

/**
 * Returns the canonical path of a request: on a service's host the service's prefix may be omitted. Paths with the
 * prefix of a service, or with the same meaning everywhere, stay unchanged.
 * @param isOwn whether a service serves a path, written without its prefix, by its own route @default none does
 */
export function canonicalPath(hosts: Hosts, host: string | undefined, url: string, isOwn: (slug: Slug, path: string) => boolean = () => false): string {
  const slug = hosts.serviceOf(host)
  if (slug === null || everywhere.test(url)) return url
  if (hosts.isMarketing(host) && !rowsOfMarketing.test(url)) return /^\/marketing(?:[/?#]|$)/.test(url) ? url : `/marketing${url}`
  // The marketing site's visitors have no dashboard to hydrate: there identity answers by itself.
  if (passesOn(hosts, host, url) && (hosts.isMarketing(host) || !isOwn(slug, url.split('?', 1)[0]!))) return `/identity${url}`
  if (slug === 'agents' && namesake.test(url)) return `/agents${url}`
  const first = /^\/([^/?#]*)/.exec(url)?.[1]
  return (slugs as readonly string[]).includes(first ?? '') ? url : `/${slug}${url}`
}
