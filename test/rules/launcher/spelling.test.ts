import { describe, expect, it } from 'vitest'
import { edits, meant, respelled } from '../../../subgraphs/launcher/engines/catalog/spelling.ts'

describe('edits', () => {
  it.each([
    ['invoice', 'invoice', 0],
    ['invioce', 'invoice', 1],
    ['invoce', 'invoice', 1],
    ['invooice', 'invoice', 1],
    ['invoise', 'invoice', 1],
    ['inovise', 'invoice', 2],
    ['tmie', 'time', 1],
    ['straße', 'strasse', 2],
    ['', 'ab', 2],
  ])('%s is as far from %s as %i', (typed, word, away) => {
    expect([edits(typed, word, 2), edits(word, typed, 2)]).toEqual([away, away])
  })

  it('ends above the limit', () => {
    expect(edits('invoice', 'planner', 2)).toBe(3)
    expect(edits('a', 'abcdefgh', 2)).toBe(3)
  })
})

describe('meant', () => {
  it.each([
    ['rout', ['route', 'routes', 'scout'], ['route']],
    ['stok', ['stock', 'stack', 'stop'], ['stock', 'stop']],
    ['te', ['tea', 'ten'], []],
    ['te', ['te', 'tea'], ['te']],
    ['kalendar', ['calendar', 'colander'], ['calendar']],
    ['zzzzzz', ['pizza'], []],
  ])('%s among %j', (typed, known, words) => expect(meant(typed, known)).toEqual(words))

  it('is ten words at most', () => {
    const known = [...'abcdefghijklm'].map(letter => `sto${letter}k`)
    expect(meant('stok', known)).toHaveLength(10)
  })
})

describe('respelled', () => {
  it('looks for a word as typed or as meant, and is nothing where only known words were typed', () => {
    const known = new Map([
      ['rout', ['route']],
      ['finder', ['finder', 'binder']],
    ])
    expect(respelled(['rout', 'finder', 'x9'], known)).toEqual({ query: '(rout:* | route) & (finder:*) & (x9:*)', title: 'route finder x9' })
    expect(respelled(['finder'], known)).toBe(null)
    expect(respelled(['x9'], known)).toBe(null)
  })
})
