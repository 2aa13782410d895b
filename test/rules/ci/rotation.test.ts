import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { long, longTests } from '../../../scripts/ci/lists.ts'
import { takeTurns } from '../../../scripts/ci/rotation.ts'

const items = [
  { name: 'chaos', seconds: 600 },
  { name: 'attacks', seconds: 200 },
  { name: 'mutations', seconds: 300 },
]
const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name)

describe('takeTurns', () => {
  it('takes the item whose last run is the oldest first', () => {
    const runs = { chaos: '2026-03-03T00:00:00.000Z', attacks: '2026-03-01T00:00:00.000Z', mutations: '2026-03-02T00:00:00.000Z' }
    const { chosen, leftOut } = takeTurns(items, runs, 1_100)
    expect(namesOf(chosen)).toEqual(['attacks', 'mutations', 'chaos'])
    expect(leftOut).toEqual([])
  })

  it('takes an item that never ran before all others', () => {
    const { chosen } = takeTurns(items, { chaos: '2026-03-01T00:00:00.000Z', attacks: '2026-03-02T00:00:00.000Z' }, 1_100)
    expect(namesOf(chosen)).toEqual(['mutations', 'chaos', 'attacks'])
  })

  it('skips an item that does not fit and takes a shorter one behind it', () => {
    const { chosen, leftOut } = takeTurns(items, {}, 550)
    expect(namesOf(chosen)).toEqual(['attacks', 'mutations'])
    expect(namesOf(leftOut)).toEqual(['chaos'])
  })

  it('reaches every item within two runs when half of them fit', () => {
    const first = takeTurns(items, {}, 600)
    const runs = Object.fromEntries(first.chosen.map(({ name }) => [name, '2026-03-01T00:00:00.000Z']))
    const second = takeTurns(items, runs, 600)
    expect(new Set([...namesOf(first.chosen), ...namesOf(second.chosen)])).toEqual(new Set(namesOf(items)))
  })
})

describe('long items', () => {
  it('have unique names and existing test files', () => {
    expect(new Set(namesOf(long)).size).toBe(long.length)
    const named = long.flatMap(({ command }) => command.filter(word => word.startsWith('test/')))
    expect([...named, ...longTests].filter(path => !existsSync(path))).toEqual([])
  })
})
