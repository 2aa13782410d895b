import { describe, expect, it } from 'vitest'
import type { KeyUse } from '../../../subgraphs/authority.ts'
import { emptyLedger, type Ledger, lend } from '../../../subgraphs/identity/api-key/lend.ts'

const start = Date.parse('2027-01-01T00:00:00Z')
const use = (more: Partial<KeyUse> = {}): KeyUse => ({ router: 'one', keyId: 'k', perMinute: 100, used: [], want: 1, spare: 5, ...more })

/** A ledger that is asked again and again. */
function ledgerOf() {
  let ledger: Ledger = emptyLedger
  return {
    ask(at: number, more: Partial<KeyUse> = {}) {
      const lent = lend(ledger, use(more), start + at)
      ledger = lent.ledger
      return lent.loan
    },
    get size() {
      return ledger.taken.length + ledger.lent.length
    },
  }
}

describe('uses of a key that are lent to routers', () => {
  it('are granted while there are some, and a few in addition', () => {
    const { ask } = ledgerOf()
    expect(ask(0)).toEqual({ granted: 1, spare: 5, waitMs: 0 })
    expect(ask(10, { want: 95, used: [{ agoMs: 5, count: 2 }] })).toEqual({ granted: 95, spare: 2, waitMs: 0 })
    expect(ask(20, { want: 3, used: [{ agoMs: 5, count: 2 }] })).toEqual({ granted: 0, spare: 0, waitMs: 60_230 })
  })

  it('are available again a minute and at most a quarter of a second after their use', () => {
    const { ask } = ledgerOf()
    expect(ask(0, { want: 100 }).granted).toBe(100)
    expect(ask(60_249, { want: 1 })).toMatchObject({ granted: 0, waitMs: 1 })
    expect(ask(60_250, { want: 1 }).granted).toBe(1)
  })

  it('count from their use, which a router reports later', () => {
    const { ask } = ledgerOf()
    ask(0)
    expect(ask(1000, { want: 96, spare: 0, used: [{ agoMs: 500, count: 3 }] }).granted).toBe(96)
    expect(ask(60_300, { router: 'two', want: 100, spare: 0 }).granted).toBe(1)
    expect(ask(60_750, { router: 'two', want: 100, spare: 0 }).granted).toBe(3)
  })

  it('that are reported a minute late do not count any more', () => {
    const { ask } = ledgerOf()
    ask(0)
    expect(ask(70_000, { want: 100, spare: 0, used: [{ agoMs: 60_000, count: 5 }] }).granted).toBe(100)
  })

  it('that a router holds unused do not block others', () => {
    const { ask } = ledgerOf()
    expect(ask(0, { want: 0, spare: 5 })).toEqual({ granted: 0, spare: 5, waitMs: 0 })
    expect(ask(1, { router: 'two', want: 200 })).toMatchObject({ granted: 100 })
  })

  it('are never held by routers for more than a tenth of the limit', () => {
    const { ask } = ledgerOf()
    const held = ['one', 'two', 'three', 'four'].map(router => ask(0, { router, want: 0 }).spare)
    expect(held).toEqual([5, 5, 0, 0])
    expect(ask(1, { router: 'five', want: 200 }).granted).toBe(100)
    // The sum of all loans: the limit and a tenth of it.
    expect(100 + held.reduce((sum, each) => sum + each)).toBe(110)
  })

  it('that are not reported count as used for a minute', () => {
    const { ask } = ledgerOf()
    expect(ask(0, { perMinute: 20, want: 0, spare: 2 }).spare).toBe(2)
    expect(ask(10, { perMinute: 20, router: 'two', want: 0, spare: 1 }).spare).toBe(0)
    expect(ask(59_999, { perMinute: 20, router: 'two', want: 0, spare: 1 }).spare).toBe(0)
    expect(ask(60_000, { perMinute: 20, router: 'two', want: 0, spare: 1 }).spare).toBe(1)
  })

  it('of a small limit are counted one by one, at any router', () => {
    const { ask } = ledgerOf()
    const granted = Array.from({ length: 12 }, (_, at) => ask(at * 1000, { router: `r${at % 3}`, perMinute: 5, spare: 0 }).granted)
    expect(granted).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
  })

  it('are known in a ledger that does not grow, however long a key is used', () => {
    const ledger = ledgerOf()
    for (let at = 0; at < 3_600_000; at += 100) ledger.ask(at, { perMinute: 6000, router: `r${at % 7}`, used: [{ agoMs: 50, count: 1 }] })
    expect(ledger.size).toBeLessThan(300)
  })
})
