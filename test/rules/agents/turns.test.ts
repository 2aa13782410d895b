import { expect, test } from 'vitest'
import { createTurns } from '../../../subgraphs/agents/style-snapshot/turns.ts'

test('one piece of work is under way at a time, and people have their turns one after another, however much of theirs waits', async () => {
  const inTurn = createTurns()
  const began: string[] = []
  let underWay = 0
  const work = (who: string, name: string) =>
    inTurn(who, async () => {
      began.push(name)
      underWay += 1
      expect(underWay).toBe(1)
      await new Promise(resolve => setImmediate(resolve))
      underWay -= 1
      return name
    })
  const all = [work('a', 'a1'), work('a', 'a2'), work('a', 'a3'), work('b', 'b1'), work('c', 'c1'), work('b', 'b2')]
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'])
  expect(began).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  expect(await work('a', 'a4')).toBe('a4')
})

test('work that fails fails alone: the next one begins', async () => {
  const inTurn = createTurns()
  const [one, two] = await Promise.allSettled([inTurn('a', () => Promise.reject(new Error('broken'))), inTurn('a', async () => 'done')])
  expect([one, two]).toMatchObject([{ reason: { message: 'broken' } }, { value: 'done' }])
})
