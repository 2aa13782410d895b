import { describe, expect, it } from 'vitest'
import { createLimit } from '../../../platform/limit.ts'

const at = (ms: number) => new Date(1_800_000_000_000 + ms)

describe('a limit', () => {
  it('has no room from the last allowed count until the window of the first ends', () => {
    const limit = createLimit({ most: 2, windowMs: 1000 })
    limit.add('a', at(0))
    expect(limit.wait('a', at(10))).toBe(0)
    limit.add('a', at(400))
    expect(limit.wait('a', at(500))).toBe(500)
    expect(limit.wait('b', at(500))).toBe(0)
    expect(limit.wait('a', at(1000))).toBe(0)
    limit.add('a', at(1000))
    expect(limit.wait('a', at(1001))).toBe(0)
  })

  it('gives back and forgets', () => {
    const limit = createLimit({ most: 1, windowMs: 1000 })
    limit.add('a', at(0))
    limit.giveBack('a')
    expect(limit.wait('a', at(1))).toBe(0)
    limit.add('a', at(2))
    limit.clear('a')
    expect(limit.wait('a', at(3))).toBe(0)
    limit.giveBack('unknown')
  })

  it('remembers no more keys than it may', () => {
    const limit = createLimit({ most: 1, windowMs: 1000, capacity: 2 })
    for (const key of ['a', 'b', 'c']) limit.add(key, at(0))
    expect(['a', 'b', 'c'].map(key => limit.wait(key, at(1)) > 0)).toEqual([false, true, true])
  })
})
