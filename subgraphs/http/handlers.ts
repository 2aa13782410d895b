import { codeOf, DomainError } from '../../platform/errors.ts'
import type { Viewer } from '../viewer.ts'
import { problemOf } from './problem.ts'

/** Handles one route. A thrown `DomainError` is answered as a problem document; any other error is an internal one. */
export type Handler = (request: Request, viewer: Viewer) => Promise<Response>

/**
 * Handlers by method and path: `POST /identity/api/auth/sign-in/email`. A path that ends in `/*` matches one further
 * segment, and one that ends in `/**` any number; the longest match counts. The method `*` matches all methods.
 */
export type Handlers = Readonly<Record<string, Handler>>

/** Handles a request by its method and path; 404 without a match. */
export const answering =
  (exchanges: Handlers): Handler =>
  async (request, viewer) => {
    const { pathname } = new URL(request.url)
    const at = `${request.method} ${pathname}`
    const exchange = Object.hasOwn(exchanges, at) ? at : keysOf(request.method, pathname).find(key => Object.hasOwn(exchanges, key))
    try {
      if (exchange === undefined) throw new DomainError('NOT_FOUND', `There is nothing at ${at}.`)
      return unkept(await exchanges[exchange]!(request, viewer))
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      return problemOf(request, error as DomainError)
    }
  }

/**
 * Joins the handlers of a subgraph's nouns.
 * @param nouns handlers of each noun, by its name
 * @throws Error when two nouns handle the same method and path
 */
export function joinHandlers(nouns: Readonly<Record<string, Handlers>>): Handlers {
  const joined = new Map<string, { readonly noun: string; readonly exchange: Handler }>()
  for (const [noun, exchanges] of Object.entries(nouns))
    for (const [at, exchange] of Object.entries(exchanges)) {
      const other = joined.get(at)
      if (other) throw new Error(`${at} is answered by two nouns, ${other.noun} and ${noun}: keep one`)
      joined.set(at, { noun, exchange })
    }
  return Object.fromEntries([...joined].map(([at, { exchange }]) => [at, exchange]))
}

/** Yields the keys under which a handler may be listed, the closest match first. */
function* keysOf(method: string, path: string): Generator<string> {
  const paths = [path, path.replace(/[^/]+$/, '*')]
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) paths.push(`${path.slice(0, at)}/**`)
  for (const each of paths) yield* [`${method} ${each}`, `* ${each}`]
}

/** Forbids caching of an answer, unless it states otherwise itself: most contain credentials or personal data. */
function unkept(answer: Response): Response {
  if (answer.headers.has('cache-control')) return answer
  const headers = new Headers(answer.headers)
  headers.set('cache-control', 'no-store')
  return new Response(answer.body, { status: answer.status, headers })
}
