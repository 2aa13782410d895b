import bidiFactory from 'bidi-js'

/** A part of a line that is drawn at once, with one font and in one direction. */
export interface Run {
  readonly text: string
  readonly font: string
}

interface Cluster extends Run {
  readonly level: number
}

const bidi = bidiFactory()
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })

/**
 * Splits one line into runs, from left to right as they stand on paper (UAX #9, rule L2). Characters of a run stand in the order in which they
 * are read: its font turns those around that are read from the right.
 * @param nameFor the font of a cluster of characters
 */
export function runsOf(line: string, nameFor: (cluster: string) => string): readonly Run[] {
  const { levels } = bidi.getEmbeddingLevels(line)
  const runs: Cluster[] = []
  for (const { segment, index } of segmenter.segment(line)) {
    const level = levels[index]!
    const text = level % 2 === 1 ? (bidi.getMirroredCharacter(segment) ?? segment) : segment
    const font = nameFor(segment)
    const last = runs.at(-1)
    if (last && last.level === level && last.font === font) runs[runs.length - 1] = { ...last, text: last.text + text }
    else runs.push({ text, font, level })
  }
  return inVisualOrder(runs).map(({ text, font, level }) => ({ text: level % 2 === 1 && isLeftToRight(text) ? reversed(text) : text, font }))
}

function inVisualOrder(runs: readonly Cluster[]): readonly Cluster[] {
  const ordered = [...runs]
  const levels = runs.map(({ level }) => level)
  const highest = Math.max(0, ...levels)
  for (let level = highest; level > 0; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      if (ordered[start]!.level < level) continue
      let end = start
      while (end < ordered.length && ordered[end]!.level >= level) end += 1
      ordered.splice(start, end - start, ...ordered.slice(start, end).reverse())
      start = end
    }
  }
  return ordered
}

/** Whether a font would draw a text from the left: punctuation and blanks have no direction of their own. */
const isLeftToRight = (text: string): boolean => !/[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(text)

const reversed = (text: string): string =>
  Array.from(segmenter.segment(text), ({ segment }) => segment)
    .reverse()
    .join('')
