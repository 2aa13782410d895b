import { describe, expect, test } from 'vitest'
import { createLru } from '../../../platform/lru.ts'

/** Which of the letters are in it; those that are, are used in this order. */
const held = (of: { get(key: string): unknown }, keys: string) => [...keys].filter(key => of.get(key) !== undefined).join('')

describe('a bounded map', () => {
  test('holds as many as it may, and lets the one go that was put in first', () => {
    const lru = createLru<string, number>(2)
    lru.set('a', 1)
    lru.set('b', 2)
    expect([lru.size, lru.get('a'), lru.get('b')]).toEqual([2, 1, 2])
    lru.set('c', 3)
    expect([lru.size, held(lru, 'abc')]).toEqual([2, 'bc'])
  })

  test('keeps what was read or put in again, and lets go what was unused for longest', () => {
    const lru = createLru<string, number>(3)
    for (const [at, key] of [...'abc'].entries()) lru.set(key, at)
    lru.get('a')
    lru.set('b', 10)
    lru.set('d', 3)
    expect([held(lru, 'abcd'), lru.get('b')]).toEqual(['abd', 10])
  })

  test('is not changed by a question after what it does not hold', () => {
    const lru = createLru<string, number | undefined>(2)
    expect([lru.get('a'), lru.size]).toEqual([undefined, 0])
    lru.set('b', 1)
    expect([lru.get('a'), lru.size]).toEqual([undefined, 1])
  })

  test('forgets one, or all', () => {
    const lru = createLru<string, number>(3)
    for (const key of 'abc') lru.set(key, 1)
    lru.delete('b')
    lru.delete('nothing')
    expect([lru.size, held(lru, 'abc')]).toEqual([2, 'ac'])
    lru.clear()
    expect([lru.size, held(lru, 'abc')]).toEqual([0, ''])
  })

  test('of one holds the newest', () => {
    const lru = createLru<string, number>(1)
    lru.set('a', 1)
    lru.set('b', 2)
    expect([lru.size, lru.get('a'), lru.get('b')]).toEqual([1, undefined, 2])
  })
})

describe('a map that weighs', () => {
  const weighed = (most: number, entries = 100) => createLru<string, string>(entries, { most, weigh: value => value.length })

  test('holds exactly what it may, and lets go from the longest unused on until the rest fits', () => {
    const lru = weighed(6)
    for (const key of 'abc') lru.set(key, 'xx')
    expect(held(lru, 'abc')).toBe('abc')
    lru.set('d', 'x')
    expect(held(lru, 'abcd')).toBe('bcd')
    lru.set('e', 'xxxx')
    expect(held(lru, 'abcde')).toBe('de')
  })

  test('keeps the newest, whatever it weighs, and nothing beside it', () => {
    const lru = weighed(3)
    lru.set('a', 'x')
    lru.set('b', 'xxxxxxxxxx')
    expect([lru.size, held(lru, 'ab')]).toEqual([1, 'b'])
    lru.set('c', 'x')
    expect([lru.size, held(lru, 'bc')]).toEqual([1, 'c'])
    lru.set('d', 'xx')
    expect(held(lru, 'cd')).toBe('cd')
  })

  test('weighs anew what is put in again', () => {
    const lru = weighed(4)
    lru.set('a', 'xx')
    lru.set('b', 'x')
    lru.set('a', 'x')
    lru.set('c', 'xx')
    expect(held(lru, 'abc')).toBe('abc')
    lru.set('c', 'xxx')
    expect(held(lru, 'abc')).toBe('bc')
  })

  test('has room for what was forgotten', () => {
    const lru = weighed(4)
    lru.set('a', 'xx')
    lru.set('b', 'xx')
    for (const _twice of [1, 2]) lru.delete('a')
    lru.set('c', 'xx')
    expect(held(lru, 'bc')).toBe('bc')
    lru.set('a', 'x')
    expect(held(lru, 'abc')).toBe('ac')
    lru.clear()
    lru.set('b', 'xx')
    lru.set('c', 'xx')
    expect(held(lru, 'bc')).toBe('bc')
    lru.set('d', 'x')
    expect(held(lru, 'bcd')).toBe('cd')
  })

  test('counts entries too, and what leaves for their number weighs nothing any more', () => {
    const lru = weighed(6, 2)
    for (const key of 'abcd') lru.set(key, 'xxx')
    expect(held(lru, 'abcd')).toBe('cd')
    lru.set('e', 'xxxx')
    expect(held(lru, 'abcde')).toBe('e')
    lru.set('f', 'xx')
    expect(held(lru, 'ef')).toBe('ef')
  })
})
