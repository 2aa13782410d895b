import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openQuoting, sentencesOf, shorten } from '../../../subgraphs/agents/engines/draft/quote.ts'

describe('sentencesOf', () => {
  it('gives sentences whose places lead back to them, and leaves no word out', () => {
    const part = fc.constantFrom('One two. ', 'Why? ', '🎈', '\n\n', 'e.g. this', ' … ', 'word ', '!', 'Ünïcode')
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 30 }).map(parts => parts.join('')),
        text => {
          let last = 0
          for (const { start, end, quote } of sentencesOf(text)) {
            expect(text.slice(start, end)).toBe(quote)
            expect(text.slice(last, start)).not.toMatch(/[\p{L}\p{N}]/u)
            last = end
          }
          expect(text.slice(last)).not.toMatch(/[\p{L}\p{N}]/u)
        },
      ),
    )
  })
})

describe('openQuoting', () => {
  it('prefers rarer words of the brief, and keeps the order of the texts', () => {
    const quoting = openQuoting('How do herons fish on boats?')
    quoting.add('a', 'A boat is here. A boat is there. Nothing else.')
    quoting.add('b', 'A heron fishes. A boat is away.')
    expect(quoting.best(32).map(({ quote }) => quote)).toEqual(['A boat is here.', 'A heron fishes.'])
    expect(quoting.best(15).map(({ sourceId, quote }) => [sourceId, quote])).toEqual([['b', 'A heron fishes.']])
  })

  it('begins with the first sentence where nothing fits the brief, cut where it is too long', () => {
    const quoting = openQuoting('xyzzy')
    quoting.add('a', 'A very long sentence without an end in sight')
    expect(quoting.best(12)).toEqual([{ sourceId: 'a', start: 0, end: 11, quote: 'A very long' }])
  })
})

describe('shorten', () => {
  it.each([
    ['short', 10, 'short'],
    ['two words', 5, 'two'],
    ['unbreakable', 4, 'unbr'],
    ['ab🎈cd', 3, 'ab'],
  ])('shortens %s to %i as %s', (text, most, expected) => {
    expect(shorten(text, most)).toBe(expected)
  })
})
