import { expect, test } from 'vitest'
import type { Claim } from '../../router/access/callers/claim.ts'
import { createRates, rated } from '../../router/live/rates.ts'
import { createShares } from '../../router/live/shares.ts'

const refused = (retryAfter: number) => expect.objectContaining({ code: 'RATE_LIMITED', extensions: { code: 'RATE_LIMITED', retryAfter } })

/** Rates over a clock that stands still until it is moved. */
function clocked(limits: Parameters<typeof createRates>[0]) {
  let at = 5000
  const rates = createRates(limits, () => at)
  return {
    pass: (ms: number) => {
      at += ms
    },
    count: (caller: string) => rates.count(caller),
    /** How many of so many attempts pass. */
    passing: (caller: string, attempts: number) => {
      let passed = 0
      for (let attempt = 0; attempt < attempts; attempt++) {
        try {
          rates.count(caller)
          passed++
        } catch {}
      }
      return passed
    },
  }
}

test('a caller may use a minute’s operations at once, and then waits as long as stated', () => {
  for (const limit of [1, 3, 7, 60, 1000, 60_000]) {
    const { passing, count, pass } = clocked({ each: limit })
    expect(passing('a', limit + 1), String(limit)).toBe(limit)
    const wait = Math.ceil(60 / limit)
    expect(() => count('a')).toThrow(refused(wait))
    pass(60_000 / limit - 1)
    if (limit < 1000) expect(() => count('a')).toThrow(refused(1))
    pass(1)
    expect(passing('a', limit + 1)).toBe(1)
    pass(60_000)
    expect(passing('a', limit + 1)).toBe(limit)
    pass(3_600_000)
    expect(passing('a', 2 * limit)).toBe(limit)
  }
})

test('refills evenly, and a rejected request costs nothing', () => {
  const { passing, pass } = clocked({ each: 60 })
  expect(passing('a', 1000)).toBe(60)
  pass(10_000)
  expect(passing('a', 1000)).toBe(10)
  expect(passing('b', 1000)).toBe(60)
})

test('keys have their own limit, else the general one', () => {
  const [both, keys, others, none] = [clocked({ each: 2, keys: 5 }), clocked({ each: null, keys: 5 }), clocked({ each: 2 }), clocked({ each: null })]
  expect([both, keys, others, none].map(({ passing }) => [passing('a', 10), passing('key:a', 10), passing('10.0.0.1', 10)])).toEqual([
    [2, 5, 2],
    [10, 5, 10],
    [2, 2, 2],
    [10, 10, 10],
  ])
})

test('an operation over the rate takes no slot, and a waiting one was counted when it arrived', async () => {
  const rates = createRates({ each: 3 }, () => 0)
  const [a, b] = ['a', 'b'].map(caller => ({ caller, organization: 'o' })) as [Claim, Claim]
  const shares = rated(createShares({ each: 1, waiting: 5, ofOrganization: 1, all: 1, timeoutMs: 60_000 }), rates)
  expect(shares.enter(a)).toBe(null)
  const waits = shares.enter(a)
  const runs = shares.run(a, async () => 'done')
  expect(() => shares.enter(a)).toThrow(refused(20))
  await expect(shares.run(a, async () => 'never')).rejects.toThrow(refused(20))
  shares.leave(a)
  await waits
  shares.leave(a)
  expect(await runs).toBe('done')
  expect(shares.enter(b)).toBe(null)
})
