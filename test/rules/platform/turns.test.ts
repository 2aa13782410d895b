import { describe, expect, test } from 'vitest'
import { createTurns, type TurnOptions } from '../../../platform/jobs/turns.ts'

/** Places whose pieces end when the test says so. */
function trial(options: Partial<TurnOptions> = {}) {
  const turns = createTurns({ what: 'pieces', places: 1, maxWaiting: { ofKey: 100, inAll: 1_000 }, perSecond: 10, ...options })
  const began: string[] = []
  const under = new Map<string, () => void>()
  const failed: unknown[] = []
  const settled = () => new Promise(resolve => setImmediate(resolve))
  const end = async (name: string) => {
    under.get(name)!()
    under.delete(name)
    await settled()
  }
  return {
    began,
    failed,
    settled,
    end,
    /** Has a piece wait. @param name its key and a number */
    add: (name: string, weight = 1, more: { readonly isUrgent?: boolean; readonly isPatient?: boolean } = {}) =>
      void turns
        .run({ key: name[0]!, weight, ...more }, () => {
          began.push(name)
          return new Promise<void>(resolve => under.set(name, resolve))
        })
        .catch(error => failed.push(error)),
    /** Ends whatever runs, the earliest first, until nothing runs. */
    async endAll() {
      await settled()
      for (;;) {
        const [name] = under.keys()
        if (name === undefined) return began
        await end(name)
      }
    },
  }
}

describe('createTurns', () => {
  test('runs keys in turn, however many jobs of one key wait', async () => {
    const { add, endAll } = trial()
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) add(name)
    expect(await endAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('charges a key by weight: ten light pieces of one run for one heavy piece of another', async () => {
    const { add, endAll } = trial()
    for (const name of ['a1', 'a2', 'a3']) add(name, 10)
    for (let at = 1; at <= 25; at += 1) add(`b${at}`)
    const order = await endAll()
    expect([order.indexOf('a2'), order.indexOf('a3')]).toEqual([11, 22])
  })

  test('gives a later key no credit for the time in which it sent nothing', async () => {
    const { add, end, endAll, settled } = trial()
    for (let at = 1; at <= 6; at += 1) add(`a${at}`)
    await settled()
    await end('a1')
    await end('a2')
    for (let at = 1; at <= 3; at += 1) add(`b${at}`)
    expect((await endAll()).slice(2)).toEqual(['a3', 'b1', 'a4', 'b2', 'a5', 'b3', 'a6'])
  })

  test('runs one heavy piece at a time, and light pieces beside it', async () => {
    const { add, began, end, endAll, settled } = trial({ places: 2, heavyFrom: 50 })
    for (const name of ['a1', 'a2', 'b1']) add(name, 90)
    add('c1', 1)
    await settled()
    expect(began).toEqual(['a1', 'c1'])
    await end('c1')
    expect(began).toEqual(['a1', 'c1'])
    await end('a1')
    expect(began).toEqual(['a1', 'c1', 'b1'])
    expect(await endAll()).toEqual(['a1', 'c1', 'b1', 'a2'])
  })

  test('keeps the reserved slot for urgent work, and gives urgent work the other slots in its turn', async () => {
    const { add, began, endAll, settled } = trial({ places: 2, reserved: 1 })
    for (const name of ['a1', 'a2', 'a3', 'b1']) add(name)
    await settled()
    expect(began).toEqual(['a1', 'a2'])
    add('a4', 1, { isUrgent: true })
    add('a5', 1, { isUrgent: true })
    await settled()
    expect(began).toEqual(['a1', 'a2', 'a4'])
    expect((await endAll()).slice(3)).toEqual(['b1', 'a3', 'a5'])
  })

  test('refuses a key of which too much waits, with RATE_LIMITED and a time, and lets urgent and patient work wait', async () => {
    const { add, began, failed, endAll, settled } = trial()
    for (let at = 0; at < 4; at += 1) add(`a${at}`, 40)
    await settled()
    expect(failed).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfter: 8 }, message: expect.stringContaining('Too many pieces') }])
    add('a5', 400, { isPatient: true })
    add('a6', 400, { isUrgent: true })
    add('b1', 90)
    await settled()
    expect([failed.length, began]).toEqual([1, ['a0']])
    expect((await endAll()).toSorted()).toEqual(['a0', 'a1', 'a2', 'a5', 'a6', 'b1'])
  })

  test('refuses only keys that have a piece waiting when too much waits in all', async () => {
    const { add, failed, settled } = trial({ maxWaiting: { ofKey: 100, inAll: 100 } })
    for (const key of ['a', 'b', 'c']) add(`${key}1`, 60)
    add('b2', 10)
    await settled()
    expect(failed.length).toBe(1)
    add('d1', 60)
    await settled()
    expect(failed.length).toBe(1)
  })

  test('passes the slot of failed work to the next one', async () => {
    const turns = createTurns({ what: 'pieces', places: 1, maxWaiting: { ofKey: 1, inAll: 1 }, perSecond: 1 })
    const broken = turns.run({ key: 'a', weight: 1 }, () => {
      throw new Error('broken')
    })
    const whole = turns.run({ key: 'a', weight: 1 }, () => 'done')
    expect(await Promise.allSettled([broken, whole])).toMatchObject([{ reason: { message: 'broken' } }, { value: 'done' }])
  })

  test('never delays a key behind another by more than one piece of each (random work of eight keys)', async () => {
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    const { add, began, endAll } = trial({ maxWaiting: { ofKey: 1e9, inAll: 1e9 } })
    const weights = new Map<string, number>()
    const keys = [...'abcdefgh']
    for (const key of keys)
      for (let at = 0; at < 40; at += 1) {
        const weight = 1 + random(key < 'e' ? 3 : 90)
        weights.set(`${key}${at}`, weight)
        add(`${key}${at}`, weight)
      }
    await endAll()
    const done = new Map(keys.map(key => [key, 0]))
    const left = new Map(keys.map(key => [key, 40]))
    for (const name of began) {
      done.set(name[0]!, done.get(name[0]!)! + weights.get(name)!)
      left.set(name[0]!, left.get(name[0]!)! - 1)
      const busy = keys.filter(key => left.get(key)! > 0).map(key => done.get(key)!)
      // The paper's bound: the largest job of either key.
      if (busy.length > 1) expect(Math.max(...busy) - Math.min(...busy)).toBeLessThanOrEqual(2 * 90)
    }
  })
})
