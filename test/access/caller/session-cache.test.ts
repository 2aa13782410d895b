import { describe, expect, test } from 'vitest'
import { createSessionCache } from '../../../router/access/known/session-cache.ts'

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
    cache: createSessionCache(
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

describe('the cache of sessions and keys', () => {
  test('looks up many credentials in one request, each once', async () => {
    const { asked, cache } = identity(new Map([['a', '1']]))
    expect(await Promise.all(['a', 'b', 'a', 'c'].map(key => cache.of(key)))).toEqual(['1', undefined, '1', undefined])
    expect(asked).toEqual([['a', 'b', 'c']])
    await cache.of('a')
    expect(asked).toHaveLength(1)
  })

  test('keeps an answer for at most a second', async () => {
    const rows = new Map([['a', '1']])
    const { pass, cache } = identity(rows)
    await cache.of('a')
    rows.delete('a')
    pass(999)
    expect(await cache.of('a')).toBe('1')
    pass(1)
    expect(await cache.of('a')).toBeUndefined()
  })

  test('looks up again for a caller that came after the answer was requested', async () => {
    const rows = new Map([['a', '1']])
    const { asked, pass, cache } = identity(rows)
    await cache.of('a')
    rows.set('a', '2')
    pass(1)
    expect(await Promise.all([cache.of('a', 1), cache.of('a', 1)])).toEqual(['2', '2'])
    expect(await cache.of('a')).toBe('2')
    expect(asked).toHaveLength(2)
  })

  test('looks up again after clearing, also when a lookup was in progress', async () => {
    const rows = new Map([['a', '1']])
    const { asked, cache } = identity(rows)
    const underWay = cache.of('a')
    cache.forget()
    rows.delete('a')
    expect(await cache.of('a')).toBeUndefined()
    await underWay
    expect(await cache.of('a')).toBeUndefined()
    expect(asked).toHaveLength(2)
  })

  test('is not decided by a lookup that failed', async () => {
    const { fail, cache } = identity(new Map([['a', '1']]))
    fail(true)
    await expect(cache.of('a')).rejects.toThrow('down')
    fail(false)
    expect(await cache.of('a')).toBe('1')
  })
})
