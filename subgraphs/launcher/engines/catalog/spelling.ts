/** Edits that a typed word may be away from the word that was meant: none in very short ones, where everything resembles everything. */
const mostEdits = ({ length }: string): number => (length < 3 ? 0 : length < 6 ? 1 : 2)

/** Maximum words that one typed word may have meant. */
const mostMeant = 10

/**
 * Returns the number of edits between two words: letters that are added, left out, replaced, or exchanged with their neighbour (optimal
 * string alignment). @param most the search ends above it
 */
export function edits(typed: string, word: string, most: number): number {
  const [a, b] = [[...typed], [...word]]
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i += 1) {
    const line = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(last[j]! + 1, line[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1)
      line.push(least)
    }
    if (Math.min(...line) > most) return most + 1
    ;[before, last] = [last, line]
  }
  return last[b.length]!
}

/**
 * Returns the words that a typed one probably meant: those with the fewest edits; none where all are too far away.
 * @param known words that resemble it
 */
export function meant(typed: string, known: readonly string[]): readonly string[] {
  const most = mostEdits(typed)
  const near = known.map(word => ({ word, away: edits(typed, word, most) })).filter(({ away }) => away <= most)
  const least = Math.min(...near.map(({ away }) => away))
  return near
    .filter(({ away }) => away === least)
    .map(({ word }) => word)
    .sort()
    .slice(0, mostMeant)
}

/**
 * Returns the query of PostgreSQL for words as typed or as they were probably meant, and these words in one line; null where no other word
 * was meant.
 */
export function respelled(each: readonly string[], known: ReadonlyMap<string, readonly string[]>): { readonly query: string; readonly title: string } | null {
  const words = each.map(typed => ({ typed, meant: meant(typed, known.get(typed) ?? []) }))
  if (words.every(({ typed, meant }) => meant.every(word => word === typed))) return null
  const query = words.map(({ typed, meant }) => `(${[`${typed}:*`, ...meant.filter(word => word !== typed)].join(' | ')})`).join(' & ')
  return { query, title: words.map(({ typed, meant: [first] }) => first ?? typed).join(' ') }
}
