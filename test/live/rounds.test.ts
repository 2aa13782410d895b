import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLookingAgain } from '../../carriers/looking-again.ts'
import { createMemoryEvents, type EventIds, type Mark } from '../../platform/events.ts'

type Found = readonly { readonly ids: EventIds; readonly mark?: Mark }[]

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Somebody listens to `post.1`; the test says what each look finds. */
function stage({ now }: { now?: () => number } = {}) {
  const local = createMemoryEvents()
  const looking = createLookingAgain({ local, log: { warn() {} }, now })
  const looks: { readonly at: number; readonly away: boolean }[] = []
  const told: string[] = []
  const way = { finds: (): Promise<Found> => Promise.resolve([]) }
  looking.by('post.', (_, __, away) => {
    looks.push({ at: Date.now(), away })
    return way.finds()
  })
  const stream = local.listen(['post.1'])
  void (async () => {
    for await (const { id } of stream) told.push(id!)
  })()
  looking.begin(['post.1'])
  const end = async () => {
    looking.stop()
    await stream.return()
  }
  return { looking, looks, told, way, end }
}
const aRound = () => vi.advanceTimersByTimeAsync(66_000)
const gaps = (looks: readonly { readonly at: number }[]) => looks.slice(1).map(({ at }, place) => at - looks[place]!.at)

test('the next round comes 54 to 66 seconds after the one before; none once it is stopped', async () => {
  const { looks, end } = stage()
  for (let round = 0; round < 20; round++) await aRound()
  for (const gap of gaps(looks)) expect(gap >= 54_000 && gap <= 66_000, `${gap}`).toBe(true)
  expect(vi.getTimerCount()).toBe(1)
  await end()
  expect(vi.getTimerCount()).toBe(0)
})

test('a failed resync is repeated within 2.5 to 7.5 seconds, and then the regular rounds continue', async () => {
  const { looks, way, end } = stage()
  way.finds = () => Promise.reject(new Error('the database is away'))
  await aRound()
  await vi.advanceTimersByTimeAsync(60_000)
  const failing = gaps(looks.slice(1))
  expect(failing.length).toBeGreaterThan(7)
  for (const gap of failing) expect(gap >= 2_500 && gap <= 7_500, `${gap}`).toBe(true)
  way.finds = () => Promise.resolve([])
  await vi.advanceTimersByTimeAsync(7_500)
  const before = looks.length
  await vi.advanceTimersByTimeAsync(53_000)
  expect(looks.length - before).toBeLessThanOrEqual(1)
  await end()
})

test('a transport that returns during a round causes another round at once', async () => {
  const { looking, looks, way, end } = stage()
  await aRound()
  const slow = Promise.withResolvers<Found>()
  way.finds = () => slow.promise
  await aRound()
  const before = looks.length
  looking.now()
  looking.now()
  await vi.advanceTimersByTimeAsync(40_000)
  expect(looks).toHaveLength(before)
  way.finds = () => Promise.resolve([])
  slow.resolve([])
  await vi.advanceTimersByTimeAsync(1)
  expect(looks.slice(before - 1).map(({ away }) => away)).toEqual([false, true])
  await vi.advanceTimersByTimeAsync(50_000)
  expect(looks).toHaveLength(before + 1)
  await end()
})

test('when the transport returns all processes resync within 0.3 seconds, except those without listeners', async () => {
  const { looking, looks, end } = stage()
  await vi.advanceTimersByTimeAsync(1)
  looking.now()
  await vi.advanceTimersByTimeAsync(300)
  expect(looks.map(({ away }) => away)).toEqual([false, true])
  await end()
  const alone = createLookingAgain({ local: createMemoryEvents(), log: { warn() {} } })
  alone.now()
  alone.begin(['nobody looks at this'])
  alone.announced('post.2', { id: '1' }, 1)
  expect(vi.getTimerCount()).toBe(0)
})

test('delivers changes without a mark at each resync, and those with one once for each mark', async () => {
  const { looking, told, way, end } = stage()
  await vi.advanceTimersByTimeAsync(1)
  looking.announced('post.1', { id: 'b' }, undefined)
  way.finds = () => Promise.resolve([{ ids: { id: 'a' } }, { ids: { id: 'b' }, mark: 1 }])
  for (let round = 0; round < 3; round++) await aRound()
  expect(told).toEqual(['a', 'b', 'a', 'a'])
  await end()
})

test.each([
  [75_000, []],
  [75_001, ['1']],
])('what was told is known for as long as a look goes back, clocks that differ included: after %d ms a later look tells %j', async (later, news) => {
  let now = 0
  const { looking, told, way, end } = stage({ now: () => now })
  await vi.advanceTimersByTimeAsync(1)
  looking.announced('post.1', { id: '1' }, 1)
  now = later
  looking.now()
  await vi.advanceTimersByTimeAsync(300)
  way.finds = () => Promise.resolve([{ ids: { id: '1' }, mark: 1 }])
  looking.now()
  await vi.advanceTimersByTimeAsync(300)
  expect(told).toEqual(news)
  await end()
})
