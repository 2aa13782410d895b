import type { ExecutionResult } from 'graphql'
import type { HttpAnswer } from '../exchange.ts'

/** What a subgraph's HTTP answer says about keeping it (RFC 9111). */
export interface CacheHeaders {
  /** Seconds that are left; undefined where the answer names none. */
  readonly maxAge: number | undefined
  readonly isPrivate: boolean
  /** Names in lower case of the request's headers on which the answer depends; `*` for more than headers. */
  readonly vary: readonly string[]
}

/** Names of the headers that are read. */
export const cacheHeaders: readonly string[] = ['cache-control', 'vary', 'age']

const headers = Symbol('cache headers')
type WithHeaders = ExecutionResult & { [headers]?: readonly string[] }

/** Notes the headers of the HTTP answer that a result was read from. */
export function withHeaders(result: ExecutionResult, answer: HttpAnswer): ExecutionResult {
  if (answer.headers && answer.headers.length > 0) (result as WithHeaders)[headers] = answer.headers
  return result
}

/** Returns what the HTTP answer of a result said; null where it said nothing about keeping it. */
export function headersOf(result: ExecutionResult): CacheHeaders | null {
  const read = (result as WithHeaders)[headers]
  return read ? readCacheHeaders(read) : null
}

/**
 * Reads `cache-control`, `vary` and `age`; null without the first. `no-store` and `no-cache` mean an age of 0, and
 * `s-maxage` comes before `max-age`, because the router answers several clients.
 * @param given names in lower case and values, alternating
 */
export function readCacheHeaders(given: readonly string[]): CacheHeaders | null {
  let control: string | null = null
  let age = 0
  const vary: string[] = []
  for (let at = 0; at + 1 < given.length; at += 2) {
    const value = given[at + 1]!
    if (given[at] === 'cache-control') control = control === null ? value : `${control}, ${value}`
    else if (given[at] === 'vary') vary.push(...value.toLowerCase().split(/[\s,]+/))
    else if (given[at] === 'age') age = Number(/^\d{1,9}$/.exec(value.trim())?.[0] ?? 0)
  }
  if (control === null) return null
  const directives = new Map(
    control.split(',').map(each => {
      const [name = '', value = ''] = each.split('=', 2)
      return [name.trim().toLowerCase(), value.trim().replace(/^"|"$/g, '')] as const
    }),
  )
  const seconds = (name: string) => /^\d{1,9}$/.exec(directives.get(name) ?? '')?.[0]
  const written = seconds('s-maxage') ?? seconds('max-age')
  const isUnkept = directives.has('no-store') || directives.has('no-cache')
  return {
    maxAge: isUnkept ? 0 : written === undefined ? undefined : Math.max(0, Number(written) - age),
    isPrivate: directives.has('private'),
    vary: vary.filter(Boolean),
  }
}
