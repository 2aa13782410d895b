import { expect, test } from 'vitest'
import type { Reading } from '../../../platform/sql/reading.ts'
import { createEachLoader, createLoader } from '../../../subgraphs/store/loader.ts'

/** An operation that counts its statements. */
function operation(changes: Partial<Reading> = {}) {
  const counted = { statements: 0 }
  const reading: Reading = {
    signal: new AbortController().signal,
    read() {},
    statement(run) {
      counted.statements += 1
      return run()
    },
    ...changes,
  }
  return { reading, counted }
}

test('keys that take a statement each are asked each once, and told apart by what they are named', async () => {
  const { reading, counted } = operation()
  const asked: object[] = []
  const loader = createEachLoader(
    reading,
    async (key: { of: string }) => {
      asked.push(key)
      return key.of.toUpperCase()
    },
    JSON.stringify,
  )
  expect(await Promise.all([{ of: 'a' }, { of: 'b' }, { of: 'a' }].map(key => loader.load(key)))).toEqual(['A', 'B', 'A'])
  expect([asked, counted.statements]).toEqual([[{ of: 'a' }, { of: 'b' }], 2])
  expect(await loader.load({ of: 'b' })).toBe('B')
  expect(counted.statements).toBe(2)
})

test('reads the keys of one batch in one statement, and reads again each time when not cached', async () => {
  for (const [fresh, batches] of [
    [false, [[1, 2]]],
    [true, [[1, 2], [1]]],
  ] as const) {
    const { reading, counted } = operation({ fresh })
    const asked: (readonly number[])[] = []
    const loader = createLoader(reading, async (keys: readonly number[]) => {
      asked.push(keys)
      return keys.map(key => key * 2)
    })
    expect([await Promise.all([loader.load(1), loader.load(2)]), await loader.load(1)]).toEqual([[2, 4], 2])
    expect([asked, counted.statements]).toEqual([batches, batches.length])
  }
})

test('keys whose rows are large are read so many a statement', async () => {
  const { reading, counted } = operation()
  const asked: (readonly number[])[] = []
  const loader = createLoader(
    reading,
    async (keys: readonly number[]) => {
      asked.push(keys)
      return keys
    },
    2,
  )
  expect(await Promise.all([1, 2, 3, 2].map(key => loader.load(key)))).toEqual([1, 2, 3, 2])
  expect([asked, counted.statements]).toEqual([[[1, 2], [3]], 2])
})
