import type { Chunk } from '../../stores/knowledge/chunk.ts'

/** Length at which a passage ends with its paragraph or sentence, and the most it may have, in UTF-16 code units. */
const wanted = 700
const most = 1_200

/** Ends of sentences: a mark before white space. */
const sentenceEnd = /[.!?…。！？](?=\s|$)\s*/gu
/** Ends of paragraphs: an empty line. */
const paragraphEnd = /\n[^\S\n]*\n\s*/gu

/**
 * Cuts a text into passages: whole paragraphs, or sentences of a long one, up to about 700 characters. Together the
 * passages hold every word, and `text.slice(start, end)` is each one's text, without white space around it.
 */
export function chunksOf(text: string): Chunk[] {
  const pieces = piecesOf(text)
  const chunks: Chunk[] = []
  let start = 0
  let end = 0
  const close = () => {
    const raw = text.slice(start, end)
    const from = start + (raw.length - raw.trimStart().length)
    const to = start + raw.trimEnd().length
    if (to > from) chunks.push({ start: from, end: to, text: text.slice(from, to) })
    start = end
  }
  for (const piece of pieces) {
    const isFull = end - start >= wanted || piece - start > most
    if (isFull && end > start) close()
    end = piece
  }
  close()
  return chunks
}

/** Places at which a text may be cut, in order: ends of paragraphs, of sentences in long ones, and of words in long sentences. */
function piecesOf(text: string): number[] {
  const pieces: number[] = []
  for (const [from, to] of spans(text, 0, text.length, paragraphEnd)) {
    if (to - from <= wanted) {
      pieces.push(to)
      continue
    }
    for (const [first, last] of spans(text, from, to, sentenceEnd)) cutWords(text, first, last, pieces)
  }
  return pieces
}

/** Spans that end with each match of a pattern; the last one ends with the text. */
function* spans(text: string, from: number, to: number, pattern: RegExp): Generator<readonly [number, number]> {
  let start = from
  for (const match of text.slice(from, to).matchAll(pattern)) {
    const end = from + match.index + match[0].length
    if (end >= to) break
    yield [start, end]
    start = end
  }
  if (start < to) yield [start, to]
}

/** Cuts what is longer than a passage at white space, or within a word that has none, but never within a character. */
function cutWords(text: string, from: number, to: number, pieces: number[]): void {
  let start = from
  while (to - start > wanted) {
    const blank = text.slice(start, start + wanted).search(/\s\S*$/)
    let end = blank > 0 ? start + blank + 1 : start + wanted
    if (isLowSurrogate(text.charCodeAt(end)) && end > start + 1) end -= 1
    pieces.push(end)
    start = end
  }
  pieces.push(to)
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
