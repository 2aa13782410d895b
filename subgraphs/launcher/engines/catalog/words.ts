import type { Words } from '../../stores/catalog-entry.ts'

/** Maximum characters of a search. */
export const maxSearch = 200

/** Words that say nothing of an app; a search of only such words keeps them. */
const idle = new Set(['a', 'an', 'and', 'app', 'apps', 'for', 'in', 'my', 'of', 'on', 'or', 'our', 'the', 'to', 'with'])

const maxWords = 8

/** Splits a search into words and the query of PostgreSQL that finds them or their beginnings; null for a search without a word. */
export function wordsOf(search: string): Words | null {
  const all =
    search
      .toLowerCase()
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const telling = all.filter(word => !idle.has(word))
  const each = [...new Set(telling.length > 0 ? telling : all)].slice(0, maxWords)
  return each.length === 0 ? null : { each, query: each.map(word => `${word}:*`).join(' & ') }
}
