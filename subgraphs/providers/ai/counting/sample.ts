import type { Sample } from '../../engines/models/engine.ts'

/** Maximum characters of a sample, and of one of its slices. */
const maxChars = 16_384
const sliceChars = 1_024

/** Copies a text, so that the longer text that it was cut from can be freed. */
const copied = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/** Samples texts: all of them, or evenly distributed slices of a longer text. */
export function sampleOf(texts: readonly string[]): Sample {
  const chars = texts.reduce((sum, { length }) => sum + length, 0)
  if (chars <= maxChars) return { text: texts.join('\n'), times: 1 }
  const whole = texts.join('')
  const slices = maxChars / sliceChars
  const every = (chars - sliceChars) / (slices - 1)
  const text = Array.from({ length: slices }, (_, at) => whole.slice(Math.floor(at * every), Math.floor(at * every) + sliceChars)).join('')
  return { text: copied(text), times: Buffer.byteLength(whole) / Buffer.byteLength(text) }
}

/** Text that a model has written so far. */
export interface Written {
  /** Number of pieces. */
  readonly pieces: number
  readonly sample: Sample
}

/** Follows a model's output, and keeps its beginning. @param read decodes the pieces */
export function createSampler(read: (pieces: string) => string = pieces => pieces) {
  let pieces = 0
  let length = 0
  let sampled = ''
  return {
    add(piece: string): void {
      if (piece === '') return
      pieces += 1
      length += piece.length
      if (sampled.length < maxChars) sampled += piece
    },
    written: (): Written => ({ pieces, sample: { text: read(sampled), times: sampled === '' ? 1 : length / sampled.length } }),
  }
}
