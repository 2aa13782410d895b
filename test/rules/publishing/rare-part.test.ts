import { expect, test } from 'vitest'
import { rarePart, sharesOf } from '../../../subgraphs/publishing/stores/rare-part.ts'

const texts = Array.from({ length: 100 }, (_, n) => `Everything about strategy, and of ${n === 0 ? 'Zebras' : 'horses'}`)
const shares = sharesOf(texts)

test.each([
  ['the four characters that the fewest posts hold', 'zebras of strategy', 'zebr'],
  ['of two as rare the one that has nothing frequent in it', 'about7y', 'ut7y'],
  ['as they are written', 'ZEBRAS', 'ZEBR'],
  ['what nobody has written', 'strategy quux', 'quux'],
  ['three, where a word has no more', 'about qed', 'qed'],
  ['nothing of what is frequent', 'about strategy', null],
  ['nothing of what is too short', 'qq', null],
  ['nothing of signs, and of letters that some databases take for signs', 'größe % __ ñññ', null],
])('looks for %s', (_what, search, part) => expect(rarePart(search, shares)).toBe(part))

test('a search part is a piece of the searched text, for any text', () => {
  for (const search of ['a b c def', 'xyz%abcd_efg', 'İstanbul', 'ΟΔΟΣ road', '100 % wool']) {
    const part = rarePart(search, shares)
    if (part !== null) expect(search).toContain(part)
  }
})
