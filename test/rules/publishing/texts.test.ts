import { setImmediate as others } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from '../../../platform/jobs/turns.ts'
import type { Context } from '../../../subgraphs/publishing/context.ts'
import { turnsOfTexts, weighed } from '../../../subgraphs/publishing/post/problems.ts'

it('a text of another organization is processed after one of the first, however many of the first wait', async () => {
  const texts = createTurns(turnsOfTexts)
  const of = (organizationId: string) => ({ texts, viewer: { organizationId } }) as unknown as Pick<Context, 'texts' | 'viewer'>
  const done: string[] = []
  const long = 'word '.repeat(10_000)
  const many = Array.from({ length: 40 }, (_, at) => weighed(of('one'), long, () => done.push(`one ${at}`)))
  const small = weighed(of('other'), 'Hello', () => done.push('other'))
  await Promise.all([...many, small])
  expect([done.indexOf('other'), done.length]).toEqual([1, 41])
})

it('other work of the process has its turn between slow texts', async () => {
  const texts = createTurns(turnsOfTexts)
  const of = { texts, viewer: { organizationId: 'one' } } as unknown as Pick<Context, 'texts' | 'viewer'>
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns += 1) await others()
  })()
  const busy = () => {
    const until = performance.now() + 4
    while (performance.now() < until);
  }
  await Promise.all(Array.from({ length: 20 }, () => weighed(of, 'Hello', busy)))
  isOver = true
  await counting
  expect(turns).toBeGreaterThanOrEqual(4)
})
