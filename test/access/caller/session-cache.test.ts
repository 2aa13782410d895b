import { describe, expect, test } from 'vitest'
import { createSessionCache } from '../../../router/access/session-cache.ts'

/** A lookup that writes down what it was asked, over a map. */
function identity(rows: Map<string, string>) {
  const asked: string[][] = []
  let fails = false
  let elapsed = 0
  return {
    pass: (milliseconds: number) => {
      elapsed += milliseconds
    },
    asked,
    fail: (state: boolean) => {
      fails = state
    },
    standing: createSessionCache(
      async keys => {
        asked.push([...keys])
        await new Promise(resolve => setImmediate(resolve))
        if (fails) throw new Error('down')
        return new Map(keys.flatMap(key => (rows.has(key) ? [[key, rows.get(key)!] as const] : [])))
      },
      () => elapsed,
    ),
  }
}

describe('the standing of sessions and keys', () => {
  test('is asked for many at once, each once', async () => {
    const { asked, standing } = identity(new Map([['a', '1']]))
    expect(await Promise.all(['a', 'b', 'a', 'c'].map(key => standing.of(key)))).toEqual(['1', undefined, '1', undefined])
    expect(asked).toEqual([['a', 'b', 'c']])
    await standing.of('a')
    expect(asked).toHaveLength(1)
  })

  test('is remembered for at most a second', async () => {
    const rows = new Map([['a', '1']])
    const { pass, standing } = identity(rows)
    await standing.of('a')
    rows.delete('a')
    pass(999)
    expect(await standing.of('a')).toBe('1')
    pass(1)
    expect(await standing.of('a')).toBeUndefined()
  })

  test('is asked anew for whoever came after the answer was asked for', async () => {
    const rows = new Map([['a', '1']])
    const { asked, pass, standing } = identity(rows)
    await standing.of('a')
    rows.set('a', '2')
    pass(1)
    expect(await Promise.all([standing.of('a', 1), standing.of('a', 1)])).toEqual(['2', '2'])
    expect(await standing.of('a')).toBe('2')
    expect(asked).toHaveLength(2)
  })

  test('is asked anew after forgetting, an answer that was under way included', async () => {
    const rows = new Map([['a', '1']])
    const { asked, standing } = identity(rows)
    const underWay = standing.of('a')
    standing.forget()
    rows.delete('a')
    expect(await standing.of('a')).toBeUndefined()
    await underWay
    expect(await standing.of('a')).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  test('is not decided by a lookup that failed', async () => {
    const { fail, standing } = identity(new Map([['a', '1']]))
    fail(true)
    await expect(standing.of('a')).rejects.toThrow('down')
    fail(false)
    expect(await standing.of('a')).toBe('1')
  })
})
