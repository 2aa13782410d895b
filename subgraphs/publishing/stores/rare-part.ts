import type { Sequelize } from 'sequelize'
import { rows, statement } from '../../../platform/sql/statement.ts'
import type { Opening } from '../../store/store.ts'

/** Which share of posts holds three characters that follow each other, in lower case; what is missing is in none that was looked at. */
export type Shares = ReadonlyMap<string, number>

/** How long a part is: two entries of the index of words, of three characters each. */
const partLength = 4
/** In which share of posts a part may be, so that it is looked for alone. */
const rareShare = 0.05

/** Runs of characters that every database takes for parts of words, whatever its language. */
const runs = /[a-z0-9]{3,}/gi

/** The entries that the index of words has of a text. */
const entriesOf = (text: string): Set<string> =>
  new Set([...text.toLowerCase().matchAll(runs)].flatMap(([run]) => Array.from({ length: run.length - 2 }, (_, at) => run.slice(at, at + 3))))

/** @param texts what posts say */
export function sharesOf(texts: readonly string[]): Shares {
  const counts = new Map<string, number>()
  for (const text of texts) for (const entry of entriesOf(text)) counts.set(entry, (counts.get(entry) ?? 0) + 1 / texts.length)
  return counts
}

/**
 * The part of a search that the fewest posts hold; null when none is rare. The index compares the posts of each of its entries, and to go
 * through those of frequent ones takes longer than to look at the few posts that hold the rarest part.
 */
export function rarePart(search: string, shares: Shares): string | null {
  let best: { readonly part: string; readonly shares: readonly [number, number] } | null = null
  for (const [run] of search.matchAll(runs))
    for (let at = 0; at === 0 || at + partLength <= run.length; at++) {
      const part = run.slice(at, at + partLength)
      const found = [...entriesOf(part)].map(entry => shares.get(entry) ?? 0)
      const [least, most] = [Math.min(...found), Math.max(...found)]
      // Of two that are as rare, the one beside which nothing frequent has to be gone through.
      if (least <= rareShare && (!best || least < best.shares[0] || (least === best.shares[0] && most < best.shares[1]))) best = { part, shares: [least, most] }
    }
  return best?.part ?? null
}

/** Some posts of a hundred pages, wherever those lie. */
const sample = statement(
  `select left(words, 300) as words from publishing.post_search
   tablesample system ((select least(100, 10000.0 / greatest(relpages, 1)) from pg_class where oid = 'publishing.post_search'::regclass))
   where random() < 0.3 limit 1500`,
)

const known = new WeakMap<Sequelize, Shares>()

/** What is frequent in posts: each process looks at some of them now and then. Until it has, and where it is wrong, searches are right and slower. */
export const rarePartStore = {
  open: ({ sequelize }: Pick<Opening, 'sequelize'>) => ({
    learn: async (): Promise<void> => {
      const texts = (await rows<{ words: string }>(sequelize, sample, [])).map(({ words }) => words)
      if (texts.length > 0) known.set(sequelize, sharesOf(texts))
    },
    /** The part of a search to look for first; null: all of it. */
    of: (search: string): string | null => {
      const shares = known.get(sequelize)
      return shares ? rarePart(search, shares) : null
    },
  }),
}
