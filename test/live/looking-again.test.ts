import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCarriedEvents } from '../../carriers/events.ts'
import { createLookingAgain } from '../../carriers/looking-again.ts'
import { createMemoryEvents, goOnFrom } from '../../platform/events.ts'
import { hear, ids } from './hearing.ts'

const log = pino({ level: 'silent' })

describe('a resync', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())
  /** The longest that a round takes to come. */
  const aRound = () => vi.advanceTimersByTimeAsync(66_000)
  const alone = () => createCarriedEvents({ carrier: null, log })

  test('delivers missed changes once for each topic, however many listen, and never earlier ones', async () => {
    let rows = [{ ids: { id: 'old' }, mark: 1 }]
    const looked: string[] = []
    const events = alone()
    events.resync('post.', async rest => {
      looked.push(rest)
      return rows
    })
    const streams = [hear(events, 'post.1', 'other'), hear(events, 'post.1')]
    const heard = () => streams.map(stream => ids(stream.heard))
    await aRound()
    expect([looked, heard()]).toEqual([
      ['1', '1'],
      [[], []],
    ])
    events.announce('post.1', { id: 'told' }, 2)
    rows = [...rows, { ids: { id: 'told' }, mark: 2 }, { ids: { id: 'lost' }, mark: 1 }]
    for (let round = 0; round < 4; round++) await aRound()
    expect(heard()).toEqual([
      ['told', 'lost'],
      ['told', 'lost'],
    ])
    rows = [{ ids: { id: 'told' }, mark: 3 }]
    await aRound()
    expect(heard()[0]).toEqual(['told', 'lost', 'told'])
    for (const stream of streams) await stream.end()
    await aRound()
    const before = looked.length
    await aRound()
    expect([looked.length, vi.getTimerCount()]).toEqual([before, 0])
  })

  test('is repeated within seconds after a failure, from where the last one ended', async () => {
    const since: Date[] = []
    let fails = true
    const events = alone()
    events.resync('post.', async (_, from) => {
      since.push(from)
      if (fails && since.length > 1) throw new Error('the database is away')
      return []
    })
    const began = Date.now()
    const { end } = hear(events, 'post.1')
    await aRound()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(since.length).toBeGreaterThan(3)
    expect(new Set(since.map(Number))).toEqual(new Set([began - 45_000]))
    fails = false
    await vi.advanceTimersByTimeAsync(8_000)
    await aRound()
    expect(since.at(-1)!.getTime()).toBeGreaterThan(began)
    await end()
  })

  test('that failed after an outage of the transport is marked so again the next time', async () => {
    const seen: boolean[] = []
    const local = createMemoryEvents()
    const looking = createLookingAgain({ local, log })
    looking.by('post.', async (_, __, away) => {
      seen.push(away)
      if (seen.length === 2) throw new Error('the database is away')
      return []
    })
    const stream = local.listen(['post.1'])
    looking.begin(['post.1'])
    looking.now()
    await vi.advanceTimersByTimeAsync(8_000)
    await aRound()
    expect(seen.slice(0, 4)).toEqual([false, true, true, false])
    looking.stop()
    await stream.return()
  })

  test('reads from where the last one began, however long that took, less the tolerated clock difference', async () => {
    let now = 1_000_000
    const since: number[] = []
    const local = createMemoryEvents()
    const looking = createLookingAgain({ local, log, now: () => now })
    looking.by('post.', async (_, from) => {
      since.push(from.getTime())
      now += 10_000
      return []
    })
    const stream = local.listen(['post.1'])
    looking.begin(['post.1'])
    await aRound()
    await aRound()
    expect(since.slice(0, 3)).toEqual([955_000, 955_000, 965_000])
    looking.stop()
    await stream.return()
  })

  test('delivers events missed by a stream that replaces a broken one, and repeats a failed resync', async () => {
    let fails = 0
    const since: number[] = []
    const events = alone()
    events.resync('post.', async (_, from, away) => {
      if (away) since.push(from.getTime())
      if (away && fails-- > 0) throw new Error('the database is away')
      return [{ ids: { id: 'changed' }, mark: 2 }]
    })
    const first = hear(events, 'post.1')
    await aRound()
    events.announce('post.1', { id: 'changed' }, 2)
    await vi.advanceTimersByTimeAsync(0)
    expect(ids(first.heard)).toEqual(['changed'])

    const brokeAt = performance.now() - 20_000
    const moment = Date.now() - 20_000
    fails = 1
    const second = goOnFrom(brokeAt, () => hear(events, 'post.1'))
    await vi.advanceTimersByTimeAsync(8_000)
    expect(ids(second.heard)).toEqual(['changed'])
    expect(since).toEqual([moment - 45_000, moment - 45_000])
    const third = goOnFrom(brokeAt, () => hear(events, 'post.2'))
    const fourth = hear(events, 'post.3')
    await vi.advanceTimersByTimeAsync(0)
    expect([ids(third.heard), ids(fourth.heard)]).toEqual([['changed'], []])
    for (const stream of [first, second, third, fourth]) await stream.end()
    await aRound()
  })

  test('forgets events that no resync can find again, and remembers those that the last one found', async () => {
    const local = createMemoryEvents()
    const looking = createLookingAgain({ local, log, everyMs: 60_000 })
    let rows: { ids: { id: string }; mark: number }[] = []
    looking.by('post.', async () => rows)
    const stream = local.listen(['post.1'])
    looking.begin(['post.1'])
    looking.announced('post.1', { id: 'told' }, 1)
    for (let round = 0; round < 4; round++) await aRound()
    rows = [{ ids: { id: 'told' }, mark: 1 }]
    await aRound()
    // Its mark was forgotten by then, so it is delivered once.
    expect(await stream.next()).toMatchObject({ value: { id: 'told' } })
    for (let round = 0; round < 4; round++) await aRound()
    looking.stop()
    const next = stream.next()
    await stream.return()
    expect(await next).toMatchObject({ done: true })
  })

  test('does not run after the stop', async () => {
    const looks = Promise.withResolvers<readonly { ids: { id: string } }[]>()
    const local = createMemoryEvents()
    const looking = createLookingAgain({ local, log })
    let count = 0
    looking.by('post.', () => {
      count += 1
      return count === 1 ? Promise.resolve([]) : looks.promise
    })
    const stream = local.listen(['post.1'])
    looking.begin(['post.1', 'other'])
    await aRound()
    expect(count).toBe(2)
    looking.stop()
    looks.resolve([{ ids: { id: 'late' } }])
    for (let round = 0; round < 3; round++) await aRound()
    const next = stream.next()
    await stream.return()
    expect([count, vi.getTimerCount(), await next]).toMatchObject([2, 0, { done: true }])
  })
})
