import { describe, expect, it } from 'vitest'
import { createSlices } from '../../router/engine/data/slices.ts'

/** Shares of ten whose turns come when the test says so. */
function trial() {
  const turns: (() => void)[] = []
  const { take } = createSlices(10, () => new Promise(resolve => turns.push(resolve)))
  const ended: string[] = []
  return {
    ended,
    /** Takes for an operation. @param name its organization's letter and a number */
    take(name: string, amount: number) {
      const later = take(name[0]!, amount)
      if (later) void later.then(() => ended.push(name))
      else ended.push(name)
    },
    /** Lets the turns come that are waited for now. */
    async turn() {
      // A turn that comes after another is asked for when that has come.
      await new Promise(resolve => setImmediate(resolve))
      for (const come of turns.splice(0)) come()
      await new Promise(resolve => setImmediate(resolve))
    },
  }
}

describe('createSlices', () => {
  it('gives all operations of one organization together one share of a turn', async () => {
    const { ended, take, turn } = trial()
    for (const name of ['a1', 'a2', 'a3', 'a4']) take(name, 8)
    expect(ended).toEqual(['a1'])
    await turn()
    expect(ended).toEqual(['a1', 'a2'])
    await turn()
    await turn()
    expect(ended).toEqual(['a1', 'a2', 'a3', 'a4'])
  })

  it('lets another organization take its share at once when operations of the first wait', async () => {
    const { ended, take, turn } = trial()
    for (const name of ['a1', 'a2', 'a3', 'b1']) take(name, 8)
    expect(ended).toEqual(['a1', 'b1'])
    await turn()
    expect(ended).toEqual(['a1', 'b1', 'a2'])
  })

  it('starts anew once nothing waits', async () => {
    const { ended, take, turn } = trial()
    for (const name of ['a1', 'a2']) take(name, 8)
    await turn()
    take('a3', 2)
    expect(ended).toEqual(['a1', 'a2', 'a3'])
  })
})
