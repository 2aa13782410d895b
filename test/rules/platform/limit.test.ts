import { describe, expect, it } from 'vitest'
import { createCounter, createLimit, dayBefore, requireQuota } from '../../../platform/limit.ts'
import { refusalOf } from '../refusal.ts'

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

  it('returns counts and forgets keys', () => {
    const limit = createLimit({ most: 1, windowMs: 1000 })
    limit.add('a', at(0))
    limit.release('a')
    expect(limit.wait('a', at(1))).toBe(0)
    limit.add('a', at(2))
    limit.clear('a')
    expect(limit.wait('a', at(3))).toBe(0)
    limit.release('unknown')
  })

  it('remembers no more keys than it may', () => {
    const limit = createLimit({ most: 1, windowMs: 1000, capacity: 2 })
    for (const key of ['a', 'b', 'c']) limit.add(key, at(0))
    expect(['a', 'b', 'c'].map(key => limit.wait(key, at(1)) > 0)).toEqual([false, true, true])
  })

  it('starts a new window once one has ended: earlier counts do not matter', () => {
    const limit = createLimit({ most: 2, windowMs: 1000 })
    limit.add('a', at(0))
    limit.add('a', at(999))
    expect([limit.wait('a', at(999)), limit.wait('a', at(1000))]).toEqual([1, 0])
    limit.add('a', at(1000))
    limit.add('a', at(1600))
    expect(limit.wait('a', at(1700))).toBe(300)
  })

  it('returns counts one at a time, and never more than were taken', () => {
    const limit = createLimit({ most: 2, windowMs: 1000 })
    limit.add('a', at(0))
    limit.release('a')
    limit.release('a')
    limit.add('a', at(1))
    expect(limit.wait('a', at(2))).toBe(0)
    limit.add('a', at(2))
    limit.release('a')
    limit.add('a', at(3))
    expect(limit.wait('a', at(4))).toBe(996)
  })

  it('drops only the oldest key above its capacity, and none for counting a known one again', () => {
    const limit = createLimit({ most: 1, windowMs: 1000, capacity: 2 })
    for (const key of ['a', 'b', 'a', 'b']) limit.add(key, at(0))
    expect(['a', 'b'].map(key => limit.wait(key, at(1)))).toEqual([999, 999])
    // A key whose window restarted is the youngest.
    limit.add('b', at(500))
    limit.add('a', at(1000))
    limit.add('c', at(1000))
    expect(['a', 'b', 'c'].map(key => limit.wait(key, at(1000)) > 0)).toEqual([true, false, true])
  })
})

describe('a quota', () => {
  const now = at(0)
  const most = { inAll: 5, aDay: 3 }
  const hoursAgo = (hours: number) => at(-hours * 3_600_000)
  const check = (inAll: number, today: number, todaySince: Date | null) => () => requireQuota({ inAll, today, todaySince }, most, 'brands', 'delete one', now)

  it('allows up to the last of the total and of a day', () => {
    for (const [standing, today] of [
      [0, 0],
      [4, 0],
      [4, 2],
      [0, 2],
    ] as const)
      expect(check(standing, today, hoursAgo(1))()).toBeUndefined()
  })

  it('allows none at the total, however old the records are', () => {
    for (const standing of [5, 6]) {
      expect(refusalOf(check(standing, 0, null))).toMatchObject({ code: 'CONFLICT', extensions: { reason: 'QUOTA' } })
      expect(refusalOf(check(standing, 3, hoursAgo(1)))).toMatchObject({ code: 'CONFLICT', extensions: { reason: 'QUOTA' } })
    }
  })

  it('allows the next one a day after the first of the day, in whole seconds and never zero', () => {
    for (const today of [3, 4])
      for (const [since, retryAfter] of [
        [hoursAgo(1), 23 * 3600],
        [at(-86_398_001), 2],
        [at(-86_399_999), 1],
        [at(-86_400_000), 1],
        [hoursAgo(30), 1],
        [null, 24 * 3600],
      ] as const)
        expect(refusalOf(check(4, today, since)), String(since)).toMatchObject({ code: 'RATE_LIMITED', extensions: { retryAfter } })
  })

  it('is counted from the moment a day before', () => {
    expect(dayBefore(new Date('2027-03-01T12:00:00.000Z'))).toEqual(new Date('2027-02-28T12:00:00.000Z'))
  })
})

describe('a counter', () => {
  it('counts each key separately', () => {
    const { enter } = createCounter()
    expect(['a', 'a', 'b', 'a'].map(enter)).toEqual([1, 2, 1, 3])
  })

  it('has room again after a leave', () => {
    const { enter, leave } = createCounter()
    for (const key of ['a', 'a', 'a', 'b']) enter(key)
    leave('a')
    expect([enter('a'), enter('b')]).toEqual([3, 2])
    for (let turn = 0; turn < 3; turn++) leave('a')
    expect(enter('a')).toBe(1)
  })

  it('ignores a leave without an enter', () => {
    const { enter, leave } = createCounter()
    leave('a')
    leave('a')
    expect(enter('a')).toBe(1)
  })
})
