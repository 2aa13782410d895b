import type { Wanted, Words } from '../../stores/catalog-entry.ts'
import { respelled } from './spelling.ts'

/** Words that are known, as the catalogue has them. */
interface Dictionary {
  /** Returns known words that resemble typed ones. */
  wordsLike(each: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
}

/**
 * Finds by words as they are typed, or if nothing has them, by the words that were probably meant.
 * @param read finds what has the words of a query, or their beginnings
 */
export async function findSpelled<Hit>(
  dictionary: Dictionary,
  { query, each }: Words,
  read: (wanted: Wanted) => Promise<readonly Hit[]>,
): Promise<readonly Hit[]> {
  const found = await read({ query, title: each.join(' ') })
  if (found.length > 0) return found
  const other = respelled(each, await dictionary.wordsLike(each))
  return other ? read(other) : []
}
