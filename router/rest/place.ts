import type { FastifyInstance, FastifyRequest } from 'fastify'
import findMyWay from 'find-my-way'
import { DomainError } from '../../platform/errors.ts'
import type { Slug } from '../../subgraphs/scopes.ts'
import { maxParamLength } from '../door/app.ts'
import { doorRefusal } from '../door/errors.ts'
import { type Hosts, isShutOn, passedPath, passesOn, type Role } from '../hosts.ts'
import { anyMethod, pathOf, type RouteTable, type Row } from './row.ts'

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

/** A route, and the service that it belongs to. */
export interface PlacedRow {
  readonly slug: Slug
  readonly row: Row
}

/** The routes at one path. */
interface Place {
  readonly rows: readonly PlacedRow[]
  readonly methods: ReadonlySet<string>
}

/**
 * Makes each path of these routes answer OPTIONS with its methods, and any other method that it does not take with 405.
 * Paths are matched a second time, by a router of their own: a route for each other method would be 4,000 routes more, and take a
 * quarter of a second of each start. Of two paths that match, the one without parameters decides: `GET /api/actions/complete` is 405,
 * and not the action of id `complete`.
 */
export function refuseOtherMethods(app: FastifyInstance, all: readonly PlacedRow[], hosts: Hosts): void {
  const places = findMyWay({ maxParamLength })
  const urls = new Set<string>()
  for (const [path, rows] of Map.groupBy(all, ({ slug, row }) => pathOf(slug, row))) {
    const place: Place = { rows, methods: new Set(methodsOf(rows)) }
    for (const url of rows.some(({ row }) => row.kind === 'operation') ? [path, `${path}/`] : [path]) {
      urls.add(url)
      places.on('GET', url, () => {}, place)
    }
  }
  // Checked before the body, because the method is wrong whatever the body holds.
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions
    // A route that is in no table keeps what it matched, unless it is a wildcard, which matches these paths too.
    if (url !== undefined && !urls.has(url) && !url.includes('*')) return done()
    const place = places.find('GET', request.url)?.store as Place | undefined
    if (!place || place.methods.has(request.method)) return done()
    const here = place.rows.filter(({ row }) => answersHere(hosts, request, ...rolesOf(row)))
    const [first] = place.rows
    if (here.length === 0) return done(misplaced(hosts, request, first!.slug, roleOf(first!.row)))
    const allow = [...methodsOf(here), 'OPTIONS'].join(', ')
    reply.header('allow', allow)
    for (const { row } of here) if (row.kind === 'forward' && row.optionsHeaders) reply.headers(row.optionsHeaders)
    if (request.method === 'OPTIONS') return void reply.code(204).send()
    done(doorRefusal(405, `This address takes ${allow}.`))
  })
}

/** Returns the methods of the routes at one path; a path with GET serves HEAD too. */
const methodsOf = (rows: readonly PlacedRow[]): readonly string[] =>
  rows
    .flatMap(({ row }): readonly string[] => (row.method === '*' ? anyMethod : [row.method]))
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
