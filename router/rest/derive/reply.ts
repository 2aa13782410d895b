import type { Slug } from '../../../subgraphs/scopes.ts'
import { tagOfVersion } from '../preconditions.ts'
import type { OperationRoute, RowReply } from '../row.ts'
import { isRecord } from '../values.ts'
import { valueAt } from './coerce.ts'
import { flattened, type Part } from './selected.ts'
import { showingParts } from './shown.ts'

/** The position of a route among its service's routes, by which it finds the route of a record that it creates. */
export interface RoutePlace {
  readonly slug: Slug
  /** Paths of the routes that read or change one record. */
  readonly paths: ReadonlySet<string>
}

/** What a route answers beside its body, and how a reply is built from the graph's answer. */
export interface Replying {
  /** Possible statuses, the usual one first. */
  readonly statuses: readonly number[]
  /** Names of headers, in lower case. */
  readonly headers: readonly string[]
  /** @returns null when the requested record does not exist (404) */
  reply(data: unknown): RowReply | null
}

/**
 * Derives status, entity tag, `Location` and body of a route's replies.
 * @param body parts of the body, of which the first is the answer; null where there is none
 * @param record the type of the record in the body; null for lists
 */
export function replying(route: OperationRoute, place: RoutePlace, body: readonly Part[] | null, record: string | null): Replying {
  const { run, status, noStore } = route
  if (!body) return { statuses: [204], headers: [], reply: data => (isRecord(data) && data[run] != null ? { status: 204 } : null) }

  const parts = flattened(body)
  const statuses = typeof status === 'number' ? [status] : status ? [201, 200] : [route.method === 'POST' && /^create[A-Z]/.test(run) ? 201 : 200]
  const changing = route.changing === undefined ? (record ? route.selections[record]?.changing : undefined) : route.changing
  const isVersioned = record !== null && route.changing !== null && parts.some(({ name }) => name === 'version')
  const location = statuses.includes(201) || route.location ? locationOf(route, place, parts) : null
  const show = showingParts(body)
  const [answer] = body
  return {
    statuses,
    headers: [...(isVersioned ? ['etag'] : []), ...(location ? ['location'] : [])],
    reply(data) {
      if (!isRecord(data)) return null
      const own = data[run]
      const shown = show({ ...data, [answer!.name]: own })
      if (!isRecord(shown)) return null
      const made = typeof status === 'object' ? (valueAt(own, status.madeWhen) === true ? 201 : 200) : statuses[0]!
      const headers = {
        ...(isVersioned && typeof shown.version === 'number' && { etag: tagOfVersion(shown.version, passing(shown, changing ?? [])) }),
        ...(location && { location: filled(location, shown) }),
        ...(noStore && { 'cache-control': 'no-store' }),
      }
      const entries = answer!.shape.kind === 'list' && route.counted ? { nextCursor: null, totalCount: lengthOf(shown[answer!.name]) } : {}
      return { status: made, headers, body: { ...shown, ...entries } }
    },
  }
}

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0)

/** Returns the `Location` of a created record, as a text with values of the answer in it. */
function locationOf({ location, path }: OperationRoute, { slug, paths }: RoutePlace, parts: readonly Part[]): string | null {
  if (location !== undefined) return location
  return paths.has(path) && parts.some(({ name }) => name === 'id') ? `/${slug}${path}/{id}` : null
}

const filled = (text: string, body: unknown): string => text.replaceAll(/\{([\w.]+)\}/g, (_, path: string) => String(valueAt(body, path)))

/** Returns the parts of a record that change without its version, for its entity tag; empty when none is set. */
function passing(body: unknown, paths: readonly string[]): string {
  const values = paths.map(path => valueAt(body, path)).filter(value => value !== null && value !== undefined && value !== 'none')
  const told = values.map(value => (Array.isArray(value) ? value.length : value))
  return told.some(Boolean) ? told.join('-') : ''
}
