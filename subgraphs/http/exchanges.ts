import { codeOf, Refusal } from '../../platform/errors.ts'
import type { Viewer } from '../viewer.ts'
import { problemOf } from './problem.ts'

/** Answers one exchange. What it throws as a `Refusal` is answered as a problem; anything else is an accident of the door. */
export type Exchange = (request: Request, viewer: Viewer) => Promise<Response>

/**
 * Exchanges by method and path: `POST /identity/api/auth/sign-in/email`. A path that ends in `/*` stands for all that are one part longer, one
 * that ends in `/**` for all below it; the longest that fits answers. The method `*` is any.
 */
export type Exchanges = Readonly<Record<string, Exchange>>

/** Answers a request by its method and path; 404 where there is nothing. */
export const answering =
  (exchanges: Exchanges): Exchange =>
  async (request, viewer) => {
    const { pathname } = new URL(request.url)
    const at = `${request.method} ${pathname}`
    const exchange = Object.hasOwn(exchanges, at) ? at : keysOf(request.method, pathname).find(key => Object.hasOwn(exchanges, key))
    try {
      if (exchange === undefined) throw new Refusal('NOT_FOUND', `There is nothing at ${at}.`)
      return unkept(await exchanges[exchange]!(request, viewer))
    } catch (error) {
      if (codeOf(error) === 'INTERNAL_SERVER_ERROR') throw error
      return problemOf(request, error as Refusal)
    }
  }

/**
 * Joins the exchanges of a subgraph's nouns.
 * @param nouns what each noun answers, by the noun's name
 * @throws Error when two nouns answer the same method and path
 */
export function joinExchanges(nouns: Readonly<Record<string, Exchanges>>): Exchanges {
  const joined = new Map<string, { readonly noun: string; readonly exchange: Exchange }>()
  for (const [noun, exchanges] of Object.entries(nouns))
    for (const [at, exchange] of Object.entries(exchanges)) {
      const other = joined.get(at)
      if (other) throw new Error(`${at} is answered by two nouns, ${other.noun} and ${noun}: keep one`)
      joined.set(at, { noun, exchange })
    }
  return Object.fromEntries([...joined].map(([at, { exchange }]) => [at, exchange]))
}

/** Under what an exchange may stand, the closest first. */
function* keysOf(method: string, path: string): Generator<string> {
  const paths = [path, path.replace(/[^/]+$/, '*')]
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) paths.push(`${path.slice(0, at)}/**`)
  for (const each of paths) yield* [`${method} ${each}`, `* ${each}`]
}

/** An answer that nobody keeps, unless it says itself for how long: most are credentials, or what one person alone is shown. */
function unkept(answer: Response): Response {
  if (answer.headers.has('cache-control')) return answer
  const headers = new Headers(answer.headers)
  headers.set('cache-control', 'no-store')
  return new Response(answer.body, { status: answer.status, headers })
}
