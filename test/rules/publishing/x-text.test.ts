import fc from 'fast-check'
import twitterText from 'twitter-text'
import { describe, expect, test } from 'vitest'
import { problemsOf } from '../../../subgraphs/publishing/network/content/check.ts'
import { saysTheSame, weightOf } from '../../../subgraphs/publishing/network/x/text.ts'
import { x } from '../../../subgraphs/publishing/network/x/x.ts'

const objection = (copy: string): string | null =>
  problemsOf(x, { copy, link: null, tags: [], title: null, firstComment: null, media: [], isLater: false })[0]?.message ?? null

describe('X’s rules for texts', () => {
  test.each([
    ['280 letters', 'x'.repeat(280)],
    ['140 emoji, which count two each', '😀'.repeat(140)],
    ['140 letters of CJK, which count two each', '字'.repeat(140)],
    ['an address without a scheme, which counts 23 however long it is, and 256 letters', `${'x'.repeat(256)} example.com/${'y'.repeat(1_200)}`],
    ['a link, which counts 23 however long it is, and 256 letters', `${'x'.repeat(256)} https://example.test.com/${'y'.repeat(300)}`],
    ['a family, which is one emoji of many code points', '👨‍👩‍👧‍👦'.repeat(140)],
    [
      'a few long links, and letters of all kinds',
      `${'字'.repeat(80)}${'a'.repeat(72)} https://example.com/${'y'.repeat(900)} HTTP://example.com/${'z'.repeat(900)}`,
    ],
    ['one letter', 'a'],
  ])('%s', (_what, copy) => expect(objection(copy)).toBe(null))

  test.each([
    ['281 letters', 'x'.repeat(281), '281'],
    ['141 emoji', '😀'.repeat(141), '282'],
    ['141 letters of CJK', '字'.repeat(141), '282'],
    ['a link and 257 letters', `${'x'.repeat(257)} https://example.com/`, '281'],
    ['a long link and too much beside it', `${'x'.repeat(258)} https://example.com/${'y'.repeat(900)}`, '282'],
    ['nothing', '', 'nothing to say'],
    ['blanks', ' \n\t', 'nothing to say'],
    ['a byte order mark within', 'a\uFFFEb', 'characters'],
  ])('not %s', (_what, copy, word) => expect(objection(copy)).toContain(word))

  test('long texts have the weight that X’s own library computes, whatever words they contain', () => {
    const links = ['https://example.com/', 'example.org/', 'www.example.net/?q='].map(link => `${link}${'a/b_c'.repeat(70)} `)
    const piece = fc.constantFrom('word ', '字', '👨‍👩‍👧‍👦', 'cafe\u0301 ', '@name ', '#tag ', 'x.co\n', '... ', '\t', ...links)
    const text = fc.array(piece, { minLength: 3, maxLength: 40 }).map(pieces => pieces.join(''))
    fc.assert(fc.property(text, copy => weightOf(copy) === twitterText.parseTweet(copy).weightedLength))
    expect(weightOf(`${'a'.repeat(150)} example.com/${'p'.repeat(450)}`)).toBe(174)
  })

  test.each(['é.中 ', 'é.中', 'a.', 'www.', '(a)', 'http://a.com/('])('a text of 50,000 characters is counted at once, whatever it is made of: %s', piece => {
    const copy = piece.repeat(50_000 / piece.length)
    const before = performance.now()
    expect(objection(copy)).toContain('shorten it')
    expect(performance.now() - before).toBeLessThan(1_500)
  })
})

describe('comparing a listed post with the sent text', () => {
  const link = { url: 'https://t.co/abc', expanded_url: 'https://example.com/page?a=1&b=2' }

  test.each([
    ['the same', 'Hello', 'Hello'],
    ['escapes', 'a &lt;b&gt; &amp; c', 'a <b> & c'],
    ['an escape that we wrote ourselves', '&amp;lt;', '&lt;'],
    ['trailing blanks, which X cuts', 'Hello', 'Hello  \n'],
    ['leading blanks', 'Hello', '  Hello'],
    ['blanks at the end of a line', 'one\ntwo', 'one  \ntwo'],
    ['composed characters', 'caf\u00e9', 'cafe\u0301'],
  ])('%s', (_what, text, copy) => expect(saysTheSame({ text }, copy)).toBe(true))

  test('its links are ours, which X replaced by t.co', () => {
    const listed = { text: 'Read https://t.co/abc now', entities: { urls: [link] } }
    expect(saysTheSame(listed, 'Read https://example.com/page?a=1&b=2 now')).toBe(true)
    expect(saysTheSame(listed, 'Read https://example.com/other now')).toBe(false)
    expect(saysTheSame({ text: listed.text }, 'Read https://example.com/page?a=1&b=2 now')).toBe(false)
  })

  test('ignores a link’s missing scheme and trailing slash', () => {
    const listed = { text: 'https://t.co/abc', entities: { urls: [{ url: 'https://t.co/abc', expanded_url: 'http://example.com/' }] } }
    expect(saysTheSame(listed, 'example.com')).toBe(true)
    expect(saysTheSame(listed, 'https://example.com')).toBe(true)
  })

  test.each([
    ['another text', 'Hello', 'Hullo'],
    ['another case', 'hello', 'Hello'],
    ['a text with more behind it', 'Hello there', 'Hello'],
    ['another inner blank', 'a  b', 'a b'],
  ])('not %s', (_what, text, copy) => expect(saysTheSame({ text }, copy)).toBe(false))

  test('recognizes every text of ours after X’s escaping and trimming', () => {
    const escaped = (copy: string) => copy.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').trim()
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), copy => saysTheSame({ text: escaped(copy) }, copy)))
  })
})
