import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Listed, merge, order, type Part, type Place, placeOf, recordTypes, start } from '../../../subgraphs/providers/processor/record/merge.ts'

type Entry = Listed<null>
type Lists = Record<(typeof recordTypes)[number], Entry[]>

/** Lists as the processor has them, each the newest first. */
const listsOf = (made: readonly { readonly type: (typeof recordTypes)[number]; readonly created: number }[]): Lists => {
  const lists = Object.fromEntries(recordTypes.map(type => [type, [] as Entry[]])) as Lists
  for (const [index, { type, created }] of made.entries()) lists[type].unshift({ type, created, at: `id-${index}`, value: null })
  // Later entries of a list are not older.
  for (const type of recordTypes) lists[type].sort((one, other) => other.created - one.created)
  return lists
}

/** A part of a list, as the processor answers `limit`, `starting_after` and a bound of `created`. */
const partOf = (lists: Lists, type: (typeof recordTypes)[number], { created, after }: Place, limit: number): Part<null> => {
  const list = lists[type]
  const from = after[type] ? list.findIndex(({ at }) => at === after[type]) + 1 : 0
  const found = list.slice(from).filter(entry => created === null || entry.created <= created)
  return { type, entries: found.slice(0, limit), hasMore: found.length > limit }
}

const walk = (lists: Lists, first: number, between: () => void = () => {}): Entry[] => {
  const seen: Entry[] = []
  let place = start
  for (let pages = 0; pages < 1000; pages += 1) {
    const { shown, hasMore } = merge(
      recordTypes.map(type => partOf(lists, type, place, first)),
      place,
      first,
    )
    seen.push(...shown)
    // In the form that a cursor has.
    if (shown.length > 0) place = placeOf(order.position(shown.at(-1)!))
    if (!hasMore) return seen
    between()
  }
  throw new Error('a list without end')
}

const made = fc.array(fc.record({ type: fc.constantFrom(...recordTypes), created: fc.integer({ min: 1, max: 12 }) }), { maxLength: 60 })
const nameOf = ({ at }: Entry) => at

describe('G-08 records of several lists, page by page', () => {
  test('lists each record once, newest first, whatever the page size', () => {
    fc.assert(
      fc.property(made, fc.integer({ min: 1, max: 12 }), (entries, first) => {
        const lists = listsOf(entries)
        const seen = walk(lists, first)
        expect(seen.map(nameOf).sort()).toEqual(Object.values(lists).flat().map(nameOf).sort())
        expect(seen.map(({ created }) => created)).toEqual(seen.map(({ created }) => created).sort((one, other) => other - one))
        // The page size does not change the order.
        expect(seen.map(nameOf)).toEqual(walk(lists, 100).map(nameOf))
      }),
      { numRuns: 300 },
    )
  })

  test('are stable under new records: none is repeated, none is left out', () => {
    fc.assert(
      fc.property(made, fc.integer({ min: 1, max: 5 }), fc.array(fc.constantFrom(...recordTypes), { maxLength: 40 }), (entries, first, later) => {
        const lists = listsOf(entries)
        const before = Object.values(lists).flat().map(nameOf)
        const coming = [...later]
        const seen = walk(lists, first, () => {
          const type = coming.pop()
          if (type) lists[type].unshift({ type, created: 13 + later.length - coming.length, at: `new-${coming.length}`, value: null })
        }).map(nameOf)
        expect(new Set(seen).size).toBe(seen.length)
        expect(seen.filter(name => name.startsWith('id-')).sort()).toEqual(before.sort())
        expect(seen.filter(name => name.startsWith('new-'))).toEqual([])
      }),
      { numRuns: 300 },
    )
  })
})
