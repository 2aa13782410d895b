import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chunksOf } from '../../../subgraphs/agents/engines/knowledge/chunks.ts'
import { searchConfigOf } from '../../../subgraphs/agents/engines/knowledge/language.ts'
import { idf, selectionOf } from '../../../subgraphs/agents/engines/knowledge/search.ts'

const words = (text: string) => text.split(/\s+/).filter(Boolean).join(' ')

describe('chunksOf', () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.constantFrom('. ', '\n\n', ' ', '! ', '🎈', 'word '.repeat(60), 'x'.repeat(900)))
  it('holds every word once, in order, with offsets into the text', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }).map(parts => parts.join('')),
        text => {
          let last = 0
          for (const { start, end, text: quote } of chunksOf(text)) {
            expect(text.slice(start, end)).toBe(quote)
            expect(start).toBeGreaterThanOrEqual(last)
            expect(text.slice(last, start).trim()).toBe('')
            expect(quote).toBe(quote.trim())
            expect(quote.length).toBeLessThanOrEqual(1_400)
            last = end
          }
          expect(text.slice(last).trim()).toBe('')
        },
      ),
    )
  })

  it('ends at paragraphs and sentences where it can, and never within a character', () => {
    const paragraph = (name: string) => `${name} begins. ${`${name} goes on for a while. `.repeat(15)}`.trim()
    const text = `${paragraph('One')}\n\n${paragraph('Two')}\n\n${paragraph('Three')}`
    const chunks = chunksOf(text)
    expect(chunks.length).toBeGreaterThan(1)
    for (const { text: quote } of chunks) expect(quote.endsWith('.')).toBe(true)
    expect(words(chunks.map(each => each.text).join(' '))).toBe(words(text))
    expect(chunksOf('🎈'.repeat(2_000)).every(({ text: quote }) => quote.isWellFormed())).toBe(true)
  })

  it('cuts a text of the greatest size within a second', () => {
    const before = performance.now()
    expect(chunksOf('Some words without an end '.repeat(40_000)).length).toBeGreaterThan(1_000)
    expect(performance.now() - before).toBeLessThan(1_000)
  })
})

describe('weights of words', () => {
  it('fall with the number of passages that have them', () => {
    expect(idf(1, 1_000)).toBeGreaterThan(idf(100, 1_000))
    expect(idf(1_000, 1_000)).toBeGreaterThan(0)
  })

  it('select by the rarest words when frequent ones would rank too many passages', () => {
    const terms = [
      { lexeme: 'often', count: 50_000 },
      { lexeme: "o'clock", count: 3 },
      { lexeme: 'some', count: 300 },
    ]
    expect(selectionOf(terms)).toBe("'o''clock' | 'some'")
    expect(selectionOf(terms.slice(0, 1))).toBe("'often'")
  })
})

describe('searchConfigOf', () => {
  it.each([
    [null, 'english'],
    ['de-AT', 'german'],
    ['EN', 'english'],
    ['ja', 'simple'],
  ])('maps the tag %s to %s', (language, config) => {
    expect(searchConfigOf(language)).toBe(config)
  })
})
