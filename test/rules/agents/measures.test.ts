import { array, assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { measure, sentencesOf, wordsOf } from '../../../subgraphs/agents/profile/style-snapshot/measures.ts'

describe('words are', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['One two', ['One', 'two']],
    ["It's a well-made test", ["It's", 'a', 'well-made', 'test']],
    ['it’s rock-’n’-roll', ['it’s', 'rock', 'n', 'roll']],
    ["'quoted' -x- a--b", ['quoted', 'x', 'a', 'b']],
    ['Größe cafe\u0301 42nd 3.4', ['Größe', 'cafe\u0301', '42nd', '3', '4']],
    ['日本語 и русский', ['日本語', 'и', 'русский']],
  ])('of %j: %j', (text, words) => {
    expect(wordsOf(text)).toEqual(words)
  })
})

describe('sentences are', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['No end', ['']],
    ['One. Two? Three! Four…', ['.', '?', '!', '…']],
    ['It costs 3.50 in all.', ['.']],
    ['See example.com now', ['']],
    ['Really?! Yes.', ['!', '.']],
    ['... ! ?', []],
    ['A heading\n\nAnd a text.', ['', '.']],
    ['A line\nand its other half.', ['.']],
    ['A heading\r\n \t\r\nAnd a text', ['', '']],
    ['“Stop.” she said', ['']],
  ])('of %j: those that end in %j', (text, marks) => {
    expect(sentencesOf(text).map(({ mark }) => mark)).toEqual(marks)
  })
})

test('a profile is measured over its texts together, with two decimals', () => {
  expect(measure(['One two three. Four five six seven? Eight nine ten!', "It's a well-made test. It's a test."])).toEqual({
    words: 17,
    sentences: 5,
    wordsPerSentence: 3.4,
    questionShare: 0.2,
    exclamationShare: 0.2,
    typeTokenRatio: 0.82,
  })
})

test('halves are rounded up, words differ by their letters and not by their case, and of nothing everything is 0', () => {
  expect(measure(['A b c d e f g h? I. J. K. L. M. N. O.'])).toMatchObject({ sentences: 8, questionShare: 0.13 })
  expect(measure(['To to TO two'])).toMatchObject({ words: 4, typeTokenRatio: 0.5 })
  expect(measure(['…', '!'])).toEqual({ words: 0, sentences: 0, wordsPerSentence: 0, questionShare: 0, exclamationShare: 0, typeTokenRatio: 0 })
})

test('counts every word in one sentence, shares between 0 and 1, and totals as the sum over the texts, for any texts', () => {
  const words = array(constantFrom('a', 'B', '7', "'", '-', '.', '?', '!', '…', ' ', '\n', '\n\n', 'é'), { maxLength: 40 }).map(parts => parts.join(''))
  for (const text of [words, string()])
    assert(
      property(array(text, { maxLength: 4 }), texts => {
        const all = measure(texts)
        const each = texts.map(one => measure([one]))
        expect(texts.flatMap(sentencesOf).reduce((sum, sentence) => sum + sentence.words, 0)).toBe(all.words)
        expect(each.reduce((sum, one) => sum + one.words, 0)).toBe(all.words)
        expect(each.reduce((sum, one) => sum + one.sentences, 0)).toBe(all.sentences)
        for (const share of [all.questionShare, all.exclamationShare, all.typeTokenRatio]) expect(share >= 0 && share <= 1).toBe(true)
        expect(all.questionShare + all.exclamationShare).toBeLessThanOrEqual(1.01)
      }),
    )
})
