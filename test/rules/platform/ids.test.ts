import { describe, expect, it, test } from 'vitest'
import { idOfName, isId, newId, newIdInTurn, readText, requireId, requireName, requireText } from '../../../platform/ids.ts'
import { refusalOf } from '../refusal.ts'

const id = '0197a3c2-5e1f-7c4b-9d2e-3f4a5b6c7d8e'

describe('a new id', () => {
  test('holds its moment, version 7 and the variant, and chance in all the rest', () => {
    const made = Array.from({ length: 300 }, () => newId(new Date('2027-01-01T00:00:00.123Z')))
    const milliseconds = Date.parse('2027-01-01T00:00:00.123Z').toString(16).padStart(12, '0')
    for (const one of made) {
      expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(one.replaceAll('-', '').slice(0, 12)).toBe(milliseconds)
    }
    expect(new Set(made).size).toBe(made.length)
    // Each random digit takes more than one value.
    for (const at of [...Array(36).keys()].filter(at => at > 14 && ![18, 23].includes(at)))
      expect(new Set(made.map(one => one[at])).size, `${at}`).toBeGreaterThan(1)
    expect(new Set(made.map(one => one[19]))).toEqual(new Set(['8', '9', 'a', 'b']))
  })

  test('in turn sorts by its turn within one moment, after earlier moments, and is random in the rest', () => {
    const now = new Date('2027-01-01T00:00:00.123Z')
    const made = [1, 2, 15, 16, 255, 256, 0xfff].map(turn => newIdInTurn(now, turn))
    expect(made.toSorted()).toEqual(made)
    expect(made.every(isId)).toBe(true)
    expect(newIdInTurn(new Date(now.getTime() + 1), 0x1000) > made.at(-1)!).toBe(true)
    expect(newIdInTurn(now, 1)).not.toBe(newIdInTurn(now, 1))
  })

  test('sorts after those of earlier moments, and uses the present by default', () => {
    const moments = [1, 0xffff, 0x1_0000, 0xffff_ffff, 1_800_000_000_000, 1_800_000_000_001]
    const made = moments.map(ms => newId(new Date(ms)))
    expect(made.toSorted()).toEqual(made)
    const before = newId(new Date(Date.now() - 1))
    expect(newId() > before).toBe(true)
    expect(newId() < newId(new Date(Date.now() + 1))).toBe(true)
  })

  test('is an id', () => expect(isId(newId())).toBe(true))
})

describe('an id from outside', () => {
  test('is optional when missing or null, but not when invalid', () =>
    expect(refusalOf(() => requireId('', 'brandId')).message).toMatch(/^brandId is missing: /))

  test('is a UUID in any case, and is handed on in lower case', () => {
    for (const given of [id, id.toUpperCase(), '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
      expect(isId(given), given).toBe(true)
      expect(requireId(given, 'postId')).toBe(given.toLowerCase())
    }
  })

  test('is rejected with a missing, additional or invalid digit, and with anything around it', () => {
    const groups = id.split('-')
    const changed = (change: (group: string) => string) => groups.map((group, at) => groups.with(at, change(group)).join('-'))
    const others = [
      ...changed(group => group.slice(1)),
      ...changed(group => `${group}0`),
      ...changed(group => `g${group.slice(1)}`),
      ...changed(() => ''),
      ...[' ', 'x', '\n', '0', '{'].flatMap(mark => [mark + id, id + mark]),
      groups.join(''),
      '',
    ]
    for (const other of others) {
      expect(isId(other), other).toBe(false)
      expect(refusalOf(() => requireId(other, 'postId'))).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'postId' } })
    }
  })

  test('is a text', () => {
    for (const other of [undefined, null, 1, [id], { toString: () => id }]) expect(isId(other)).toBe(false)
  })
})

describe('a name', () => {
  const refused = (given: string, most = 5) =>
    expect(
      refusalOf(() => requireName(given, 'name', most)),
      JSON.stringify(given),
    ).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { field: 'name' } })

  test('is returned trimmed, with inner spaces unchanged', () => {
    expect(requireName(' \t A  b\n', 'name', 5)).toBe('A  b')
  })

  test('has at least 1 and a maximum of user-perceived characters', () => {
    for (const given of ['a', 'abcde', '😀😀😀😀😀', '  abcde  ']) expect(requireName(given, 'name', 5)).toBe(given.trim())
    for (const given of ['', '   ', 'abcdef', '😀😀😀😀😀😀']) refused(given)
  })

  test('stays on one line and does not change the text direction around it', () => {
    const marks = [0, 9, 10, 13, 0x1f, 0x7f, 0x85, 0x9f, 0x2028, 0x2029, 0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069]
    for (const mark of marks) refused(`a${String.fromCodePoint(mark)}b`)
    for (const beside of [0x20, 0xa0, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0x61b, 0x627]) {
      const given = `a${String.fromCodePoint(beside)}b`
      expect(requireName(given, 'name', 5)).toBe(given)
    }
  })

  test('has no half characters', () => {
    for (const given of ['a\ud83d', '\ude00a']) refused(given)
  })
})

describe('a text of a person', () => {
  it('loses the blanks around it and may be left out', () => {
    expect(readText('  a\nb ', 'note', 5)).toBe('a\nb')
    for (const none of [null, undefined, '', ' \n']) expect(readText(none, 'note', 5)).toBeNull()
  })

  it('is rejected above the maximum of user-perceived characters', () => {
    expect(readText('😀😀', 'note', 2)).toBe('😀😀')
    expect(refusalOf(() => readText('abc', 'note', 2))).toMatchObject({ message: 'note has 3 characters: the maximum is 2.' })
  })

  it('is refused when it is required and too short', () => {
    expect(requireText(' abc ', 'search', 5, 3)).toBe('abc')
    expect(refusalOf(() => requireText(' ab ', 'search', 5, 3))).toMatchObject({ message: 'search has 2 characters: it takes 3 to 5.' })
    expect(refusalOf(() => requireText(' ', 'note', 5))).toMatchObject({ message: 'note has 0 characters: it takes 1 to 5.' })
  })
})

test('derives an id from a name as RFC 9562 specifies, different for each namespace', () => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  expect(idOfName(dns, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
  expect(idOfName(id, 'www.example.com')).not.toBe(idOfName(dns, 'www.example.com'))
  expect(idOfName(dns, 'example.com')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})
