/** A passage that may answer a question. */
export interface Quotable {
  readonly quote: string
}

/** An answer in words of passages alone. */
export interface Extract<Hit> {
  readonly text: string
  /** The passages that it quotes. */
  readonly used: readonly Hit[]
}

/** How many sentences an answer quotes, and of how many passages. */
const max = { sentences: 3, passages: 3, characters: 1_200 } as const

/** Words that say nothing of what is asked. */
const idle = new Set(
  'a about an and are as at be been but by can could do does for from had has have how i if in into is it its me my no not of on or our please shall should so some such tell than that the their them then there these they this those to was we were what when where which who whom why will with would you your'.split(
    ' ',
  ),
)

/** How words are compared: without their endings. */
const stemOf = (word: string): string => (word.length > 5 ? word.slice(0, Math.max(5, word.length - 3)) : word)

/** The words of a text by which it is found. */
const stemsOf = (text: string): readonly string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(word => word.length > 1 && !idle.has(word)).map(stemOf)

/** The sentences of a passage, each with the white space around it taken off. */
const sentencesOf = (text: string): readonly string[] =>
  text
    .split(/(?<=[.!?…])\s+|\n\s*\n/u)
    .map(sentence => sentence.trim())
    .filter(sentence => /[\p{L}\p{N}]/u.test(sentence))

/** Whether a sentence names an address: what visitors are led to are the addresses of records, not of texts. */
const namesAddress = (sentence: string): boolean => /\b(?:https?:\/\/|www\.)/i.test(sentence)

/**
 * Answers a question with sentences of passages: those that share most with it, in the order of the passages.
 * @returns null where nothing answers it
 */
export function extract<Hit extends Quotable>(question: string, hits: readonly Hit[]): Extract<Hit> | null {
  const asked = new Set(stemsOf(question))
  const candidates = hits.slice(0, max.passages).flatMap((hit, at) =>
    sentencesOf(hit.quote)
      .filter(sentence => !namesAddress(sentence))
      .map((sentence, place) => ({ hit, at, place, sentence, shared: new Set(stemsOf(sentence).filter(stem => asked.has(stem))).size })),
  )
  const best = candidates.filter(({ shared }) => shared > 0).sort((one, other) => other.shared - one.shared || one.at - other.at || one.place - other.place)
  if (best.length === 0) return null
  const chosen = best.filter(({ shared }) => shared * 2 >= best[0]!.shared).slice(0, max.sentences)
  chosen.sort((one, other) => one.at - other.at || one.place - other.place)
  const text = chosen
    .map(({ sentence }) => sentence)
    .join(' ')
    .slice(0, max.characters)
  return { text, used: [...new Set(chosen.map(({ hit }) => hit))] }
}

/** Cuts a text into pieces that follow each other, a few words each: together they are the text. */
export const piecesOf = (text: string): readonly string[] => text.match(/\s*(?:\S+\s*){1,4}/gu) ?? []
