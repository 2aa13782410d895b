import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { type Hosts, isShutOn, passedPath, passesOn, type Role } from '../hosts.ts'
import { anyMethod, type RouteTable, type Row } from './row.ts'

/** Returns the audience of a route, which decides on which hosts it is served. */
export const roleOf = (row: Row): Role => (row.kind === 'operation' ? 'api' : (row.role ?? (row.why === 'page' ? 'web' : 'api')))

/** Returns all audiences of a route, the one that its address names first. */
export const rolesOf = (row: Row): readonly [Role, ...Role[]] => [roleOf(row), ...(row.kind === 'operation' && row.also ? [row.also] : [])]

/** Whether a row of one of these roles is answered on the host that a request came to. */
export const answersHere = (hosts: Hosts, request: FastifyRequest, ...roles: readonly Role[]): boolean =>
  !isShutOn(hosts, request.headers.host, askedOf(request)) &&
  roles.some(role => hosts.answers(request.headers.host, role, isShort(request) && !isPassed(hosts, request)))

const audiences: Readonly<Record<Role, readonly [what: string, where: string]>> = {
  api: ['The routes', 'programs'],
  web: ['The pages', 'browsers'],
  marketing: ['The forms', 'visitors'],
}

/** Error for a request on a host of the other audience; it names the right address. */
export function misplaced(hosts: Hosts, request: FastifyRequest, slug: Slug, role: Role): DomainError {
  const { method, url, headers } = request
  const [asked, routed] = [withoutQuery(askedOf(request)), withoutQuery(url)]
  const address = hosts.addressOf(slug, role, routed.slice(slug.length + 1))
  const [what, where] = audiences[role]
  return new DomainError(
    'NOT_FOUND',
    `There is nothing at ${method} ${asked} on the host ${String(headers.host).slice(0, 100)}. ${what} of ${slug} are where ${where} find them: ${address}.`,
    { address },
  )
}

const withoutQuery = (url: string): string => url.split('?', 1)[0]!.slice(0, 200)

/** Creates a hook that runs before credentials and bodies are read: it rejects routes that the host does not serve. */
export const keepRole =
  (hosts: Hosts, slug: Slug, role: Role, ...others: readonly Role[]) =>
  async (request: FastifyRequest) => {
    if (!answersHere(hosts, request, role, ...others)) throw misplaced(hosts, request, slug, role)
  }

/** Whether the prefix of the service was omitted, so that the requested path differs from the routed one. */
const isShort = (request: FastifyRequest): boolean => askedOf(request) !== request.url

/**
 * Whether identity's path was requested on the host of a service that forwards it: it is served there whatever its
 * audience.
 */
const isPassed = (hosts: Hosts, request: FastifyRequest): boolean => {
  const asked = askedOf(request)
  return request.url === `/identity${asked}` && passesOn(hosts, request.headers.host, asked)
}

/**
 * Returns whether a service has its own route at a path that is forwarded to identity; its own route takes precedence.
 */
export function ownRows(tables: readonly RouteTable[]): (slug: Slug, method: string, path: string) => boolean {
  const own = tables.flatMap(({ slug, rows }) =>
    slug === 'identity' ? [] : rows.filter(({ path }) => path.startsWith(passedPath)).map(row => ({ slug, row, pattern: patternOf(row.path) })),
  )
  return (slug, method, path) => {
    const wanted = anyMethod.find(each => each === (method === 'HEAD' ? 'GET' : method))
    return own.some(each => each.slug === slug && each.pattern.test(path) && wanted !== undefined && (each.row.method === '*' || each.row.method === wanted))
  }
}

const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace(/\*$/, '.*')}/?$`,
  )

/** Returns path and query as requested; a request line may contain the host before them. */
const askedOf = ({ originalUrl }: FastifyRequest): string => originalUrl.replace(/^https?:\/\/[^/?#]*/i, '')
