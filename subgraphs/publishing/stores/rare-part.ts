import type { Sequelize } from 'sequelize'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { StoreContext } from '../../store/store.ts'

/**
 * Share of posts that contain a sequence of three characters, in lower case; a missing sequence occurs in none of the
 * sampled posts.
 */
export type Shares = ReadonlyMap<string, number>

/** Length of a part in characters: two overlapping entries of the trigram index. */
const partLength = 4
/** Maximum share of posts that contain a part for a search by that part alone. */
const rareShare = 0.05

/** Matches sequences of characters that every database treats as parts of words, in any language. */
const runs = /[a-z0-9]{3,}/gi

/** Returns the entries that the trigram index has for a text. */
const entriesOf = (text: string): Set<string> =>
  new Set([...text.toLowerCase().matchAll(runs)].flatMap(([run]) => Array.from({ length: run.length - 2 }, (_, at) => run.slice(at, at + 3))))

/** @param texts texts of posts */
export function sharesOf(texts: readonly string[]): Shares {
  const counts = new Map<string, number>()
  for (const text of texts) for (const entry of entriesOf(text)) counts.set(entry, (counts.get(entry) ?? 0) + 1 / texts.length)
  return counts
}

/**
 * Returns the part of a search that the fewest posts contain; null when none is rare. The index reads the posts of
 * every entry, and reading those of frequent entries takes longer than checking the few posts that contain the rarest
 * part.
 */
export function rarePart(search: string, shares: Shares): string | null {
  let best: { readonly part: string; readonly shares: readonly [number, number] } | null = null
  for (const [run] of search.matchAll(runs))
    for (let at = 0; at === 0 || at + partLength <= run.length; at++) {
      const part = run.slice(at, at + partLength)
      const found = [...entriesOf(part)].map(entry => shares.get(entry) ?? 0)
      const [least, most] = [Math.min(...found), Math.max(...found)]
      // Of two equally rare parts, prefers the one that needs no scan of a frequent part.
      if (least <= rareShare && (!best || least < best.shares[0] || (least === best.shares[0] && most < best.shares[1]))) best = { part, shares: [least, most] }
    }
  return best?.part ?? null
}

/** Samples posts from about a hundred random pages of the table. */
const sample = statement(
  `select left(words, 300) as words from publishing.post_search
   tablesample system ((select least(100, 10000.0 / greatest(relpages, 1)) from pg_class where oid = 'publishing.post_search'::regclass))
   where random() < 0.3 limit 1500`,
)

const known = new WeakMap<Sequelize, Shares>()

/**
 * Statistics of frequent parts of posts: each process samples posts from time to time. Without them, or with outdated
 * ones, searches return the same posts and take longer.
 */
export const rarePartStore = {
  open: ({ sequelize }: Pick<StoreContext, 'sequelize'>) => ({
    learn: async (): Promise<void> => {
      const texts = (await rows<{ words: string }>(sequelize, sample, [])).map(({ words }) => words)
      if (texts.length > 0) known.set(sequelize, sharesOf(texts))
    },
    /** Returns the part of a search to look for first; null for the whole search. */
    of: (search: string): string | null => {
      const shares = known.get(sequelize)
      return shares ? rarePart(search, shares) : null
    },
  }),
}
