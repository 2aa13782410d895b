import type { GraphQLSchema } from 'graphql'
import type { ForwardRow, RouteTable } from '../row.ts'
import { type DerivedRow, deriveRow } from './derive.ts'
import type { Known } from './selected.ts'

/** A route that the graph answers, or a forwarded one. */
export type ServedRow = DerivedRow | ForwardRow

/** The routes of one service as a graph answers them. */
export interface DerivedTable {
  readonly slug: RouteTable['slug']
  readonly rows: readonly ServedRow[]
}

/** A route that a graph does not answer. */
export interface NotDerived {
  /** Method and path of the route. */
  readonly at: string
  readonly sentence: string
}

/** Derives every route from a graph. Routes that the graph does not support are left out, and reported. */
export function deriveTables(
  tables: readonly RouteTable[],
  schema: GraphQLSchema,
): { readonly tables: readonly DerivedTable[]; readonly mistakes: readonly NotDerived[] } {
  const mistakes: NotDerived[] = []
  const known: Known = new Map()
  const derived = tables.map(({ slug, rows }) => {
    const reads = rows.filter(({ method, path }) => method === 'GET' && /\/:\w+$/.test(path))
    const place = { slug, paths: new Set(reads.map(({ path }) => path.replace(/\/:\w+$/, ''))) }
    return {
      slug,
      rows: rows.flatMap((row): readonly ServedRow[] => {
        if (row.kind === 'forward') return [row]
        try {
          return [deriveRow(row, schema, place, known)]
        } catch (error) {
          mistakes.push({ at: `${row.method} /${slug}${row.path}`, sentence: error instanceof Error ? error.message : String(error) })
          return []
        }
      }),
    }
  })
  return { tables: derived, mistakes }
}
