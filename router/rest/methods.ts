import type { FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'
import type { Slug } from '../../subgraphs/scopes.ts'
import { maxParamLength } from '../door/app.ts'
import { doorRefusal } from '../door/errors.ts'
import type { Hosts } from '../hosts.ts'
import { answersHere, misplaced, roleOf, rolesOf } from './place.ts'
import { anyMethod, pathOf, type Row } from './row.ts'

/** A route and the service whose it is. */
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
 * The paths are matched once more on their own: six more routes for each path, one a method, cost a third of a start.
 * A path with parameters never takes over what a plainer path beside it refuses.
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
    // A page or a door of its own took this request; one for whatever nobody takes did not.
    if (url !== undefined && !urls.has(url) && !url.includes('*')) return done()
    const place = places.find('GET', request.url)?.store as Place | undefined
    if (!place || place.methods.has(request.method)) return done()
    const here = place.rows.filter(({ row }) => answersHere(hosts, request, ...rolesOf(row)))
    const [first] = place.rows
    if (here.length === 0) return done(misplaced(hosts, request, first!.slug, roleOf(first!.row)))
    const allow = [...methodsOf(here), 'OPTIONS'].join(', ')
    reply.header('allow', allow)
    for (const { row } of here) if (row.kind === 'forward' && row.tellsOptions) reply.headers(row.tellsOptions)
    if (request.method === 'OPTIONS') return void reply.code(204).send()
    done(doorRefusal(405, `This address takes ${allow}.`))
  })
}

/** Returns the methods of the routes at one path; a path with GET serves HEAD too. */
const methodsOf = (rows: readonly PlacedRow[]): readonly string[] =>
  rows
    .flatMap(({ row }): readonly string[] => (row.method === '*' ? anyMethod : [row.method]))
    .flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
