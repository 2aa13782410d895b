import type { Measures } from '../../stores/style-snapshot.ts'

/** A run of letters and digits, with apostrophes and hyphens between them; marks belong to the letter that they stand on. */
const word = /[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu
/** Where a piece ends: after a mark before white space or the end, or at an empty line. */
const end = /([.!?…])(?=\s|$)|\n[^\S\n]*\n/gu

/** Words of a text, as they stand. */
export const wordsOf = (text: string): string[] => text.match(word) ?? []

/** A sentence, and the mark that ended it; empty for one that ended without. */
export interface Sentence {
  readonly words: number
  readonly mark: string
}

/** Sentences of a text, in order: pieces without a word are none. */
export function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = []
  let from = 0
  const add = (to: number, mark: string) => {
    const words = wordsOf(text.slice(from, to)).length
    if (words > 0) sentences.push({ words, mark })
  }
  for (const match of text.matchAll(end)) {
    add(match.index, match[1] ?? '')
    from = match.index + match[0].length
  }
  add(text.length, '')
  return sentences
}

/** Two decimals, rounded half up; 0 of nothing. */
const quotient = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part * 100) / whole) / 100)

/** Counts text by text. */
export interface Measuring {
  /** Counts one more text, which ends its last sentence. */
  add(text: string): void
  /** What was counted so far. */
  measures(): Measures
}

export function createMeasuring(): Measuring {
  const different = new Set<string>()
  let [words, sentences, questions, exclamations] = [0, 0, 0, 0]
  return {
    add(text) {
      for (const each of wordsOf(text)) {
        words += 1
        different.add(each.toLowerCase())
      }
      for (const { mark } of sentencesOf(text)) {
        sentences += 1
        if (mark === '?') questions += 1
        if (mark === '!') exclamations += 1
      }
    },
    measures: () => ({
      words,
      sentences,
      wordsPerSentence: quotient(words, sentences),
      questionShare: quotient(questions, sentences),
      exclamationShare: quotient(exclamations, sentences),
      typeTokenRatio: quotient(different.size, words),
    }),
  }
}

/** What is counted in several texts together. */
export function measure(texts: readonly string[]): Measures {
  const measuring = createMeasuring()
  for (const text of texts) measuring.add(text)
  return measuring.measures()
}
