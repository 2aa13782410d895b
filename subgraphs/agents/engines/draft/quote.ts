/** A sentence of a source: `text.slice(start, end) === quote`, in UTF-16 code units. */
export interface Quotation {
  readonly sourceId: string
  readonly start: number
  readonly end: number
  readonly quote: string
}

/** Selects the sentences of texts that fit a brief best, text by text. */
export interface Quoting {
  add(sourceId: string, text: string): void
  /**
   * Returns the best sentences, in the order of the texts: those that share most with the brief, or the first ones
   * where none shares anything.
   * @param maxCharacters most characters of all sentences, joined by spaces
   */
  best(maxCharacters: number): readonly Quotation[]
}

interface Candidate extends Quotation {
  readonly order: number
  readonly shared: ReadonlySet<string>
}

/** Most sentences of one draft. */
export const maxSentences = 12
/** Candidates that are kept in memory. */
const maxCandidates = 2_000

/** Words that say nothing about a subject. */
const idle = new Set(
  'a about all also an and any are as at be been but by can could did do does for from had has have how i if in into is it its just me more most my no not of on only or our out over please say should so some such tell than that the their them then there these they this those to up us was we were what when where which who why will with would write you your'.split(
    ' ',
  ),
)

/** Compares words without their usual endings. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ings?|edly|ed|ies|es|s|ly)$/u, '') : word.length > 3 ? word.replace(/s$/u, '') : word

const stemsOf = (text: string): Set<string> => new Set((text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).filter(word => !idle.has(word)).map(stem))

/** Where a sentence ends: after a mark before white space or the end, or at an empty line. */
const end = /[.!?…](?=\s|$)|\n[^\S\n]*\n/gu

/** Sentences of a text with their places, without the white space around them; pieces without a word are none. */
export function sentencesOf(text: string): { readonly start: number; readonly end: number; readonly quote: string }[] {
  const sentences: { start: number; end: number; quote: string }[] = []
  let from = 0
  const add = (to: number) => {
    const raw = text.slice(from, to)
    const quote = raw.trim()
    const start = from + (raw.length - raw.trimStart().length)
    if (/[\p{L}\p{N}]/u.test(quote)) sentences.push({ start, end: start + quote.length, quote })
    from = to
  }
  for (const match of text.matchAll(end)) add(match.index + match[0].length)
  add(text.length)
  return sentences
}

/** @param brief what the text is to be about */
export function openQuoting(brief: string): Quoting {
  const wanted = stemsOf(brief)
  const counts = new Map<string, number>()
  let candidates: Candidate[] = []
  const opening: Candidate[] = []
  let [order, sentences] = [0, 0]
  const score = ({ shared }: Candidate) => [...shared].reduce((sum, each) => sum + Math.log(1 + sentences / (counts.get(each) ?? 1)), 0)
  const ranked = () => candidates.map(each => ({ each, score: score(each) })).sort((one, other) => other.score - one.score || one.each.order - other.each.order)
  return {
    add(sourceId, text) {
      for (const place of sentencesOf(text)) {
        sentences += 1
        order += 1
        const shared = stemsOf(place.quote).intersection(wanted)
        for (const each of shared) counts.set(each, (counts.get(each) ?? 0) + 1)
        if (shared.size > 0) candidates.push({ sourceId, ...place, order, shared })
        else if (opening.length < maxSentences) opening.push({ sourceId, ...place, order, shared })
      }
      if (candidates.length > maxCandidates)
        candidates = ranked()
          .slice(0, maxCandidates / 2)
          .map(({ each }) => each)
    },
    best(maxCharacters) {
      const from = candidates.length > 0 ? ranked().map(({ each }) => each) : opening
      const chosen: Candidate[] = []
      let left = maxCharacters
      for (const each of from) {
        if (chosen.length === maxSentences) break
        if (each.quote.length > left) continue
        chosen.push(each)
        left -= each.quote.length + 1
      }
      if (chosen.length === 0 && from[0]) chosen.push(cut(from[0], maxCharacters))
      chosen.sort((one, other) => one.order - other.order)
      return chosen.map(({ sourceId, start, end, quote }) => ({ sourceId, start, end, quote }))
    },
  }
}

/** Shortens a sentence that is too long by itself, at a word where there is one. */
function cut(sentence: Candidate, most: number): Candidate {
  const quote = shorten(sentence.quote, most)
  return { ...sentence, quote, end: sentence.start + quote.length }
}

/** Returns the beginning of a text, at most so many UTF-16 code units, up to the end of a word where there is one. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  const head = text.slice(0, most + 1)
  const blank = head.search(/\s\S*$/)
  const shortened = blank > 0 ? head.slice(0, blank).trimEnd() : text.slice(0, most)
  return shortened.isWellFormed() ? shortened : shortened.slice(0, -1)
}
