import { expect, test } from 'vitest'
import { createTally } from '../../router/live/tally.ts'

test('a tally counts each key for itself', () => {
  const { enter } = createTally()
  expect(['a', 'a', 'b', 'a'].map(enter)).toEqual([1, 2, 1, 3])
})

test('who leaves makes room for one', () => {
  const { enter, leave } = createTally()
  for (const key of ['a', 'a', 'a', 'b']) enter(key)
  leave('a')
  expect([enter('a'), enter('b')]).toEqual([3, 2])
  for (let turn = 0; turn < 3; turn++) leave('a')
  expect(enter('a')).toBe(1)
})

test('whoever leaves without having entered leaves no debt behind', () => {
  const { enter, leave } = createTally()
  leave('a')
  leave('a')
  expect(enter('a')).toBe(1)
})
