import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createMemoryEvents } from '../../../../platform/events.ts'
import type { WidgetRow } from '../../../../subgraphs/launcher/engines/widgets/widgets.ts'
import { liveWidgets } from '../../../../subgraphs/launcher/widget/live.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A dashboard of so many widgets, whose services show what the test says and note that they were asked. */
function dashboard(...apps: string[]) {
  const events = createMemoryEvents()
  const shows = new Map(apps.map(app => [app, 'first']))
  const asked: string[] = []
  const live = liveWidgets({
    events: events.listen(['widgets']),
    list: async () => apps.map(app => ({ app }) as WidgetRow),
    appeared: async () => null,
    async read({ app }) {
      asked.push(app)
      return { state: 'FRESH', failure: null, readAt: new Date(), payload: { statistics: [], items: [], nextAction: shows.get(app) } } as never
    },
    failed: error => expect.fail(String(error)),
  })
  const next = async () => {
    const { value } = await live.next()
    return `${value.app} ${(value.reading!.payload as unknown as { nextAction: string }).nextAction}`
  }
  return { shows, asked, live, next, changed: (app: string) => events.announce('widgets', { app }), listeners: () => events.listenerCount() }
}

test('a burst of events causes one read, a tenth of a second after the first event', async () => {
  const { shows, asked, live, next, changed } = dashboard('app_a', 'app_b')
  expect([await next(), await next()]).toEqual(['app_a first', 'app_b first'])
  shows.set('app_a', 'second')
  for (let event = 0; event < 50; event++) {
    changed('app_a')
    changed('app_unknown')
    await vi.advanceTimersByTimeAsync(1)
  }
  await vi.advanceTimersByTimeAsync(49)
  expect(asked).toEqual(['app_a', 'app_b'])
  await vi.advanceTimersByTimeAsync(2)
  expect(await next()).toBe('app_a second')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(asked).toEqual(['app_a', 'app_b', 'app_a'])
  await live.return!()
})

test('a slow reader gets the latest state of each widget, not its history, and nothing twice', async () => {
  const { shows, live, next, changed } = dashboard('app_a', 'app_b')
  await vi.advanceTimersByTimeAsync(0)
  for (const state of ['second', 'third', 'fourth']) {
    shows.set('app_a', state)
    changed('app_a')
    await vi.advanceTimersByTimeAsync(200)
  }
  const seen = [await next(), await next()].sort()
  expect(seen).toEqual(['app_a fourth', 'app_b first'])
  changed('app_a')
  const waiting = live.next()
  await vi.advanceTimersByTimeAsync(1_000)
  await live.return!()
  expect(await waiting).toEqual({ value: undefined, done: true })
})

test('every widget is read again within a minute without an event, and sent when it differs', async () => {
  const { shows, asked, live, next } = dashboard('app_a')
  expect(await next()).toBe('app_a first')
  await vi.advanceTimersByTimeAsync(53_000)
  expect(asked).toHaveLength(1)
  shows.set('app_a', 'after midnight')
  const update = next()
  await vi.advanceTimersByTimeAsync(14_000)
  expect(await update).toBe('app_a after midnight')
  await live.return!()
})

test('after its end nothing listens, and no timer runs', async () => {
  const { asked, live, next, changed, listeners } = dashboard('app_a')
  await next()
  changed('app_a')
  await vi.advanceTimersByTimeAsync(10)
  await live.return!()
  expect([listeners(), vi.getTimerCount()]).toEqual([0, 0])
  await vi.advanceTimersByTimeAsync(120_000)
  expect(asked).toHaveLength(1)
})

test('a read that fails because the stream ended is not logged as a failure', async () => {
  const failures: unknown[] = []
  const { promise, reject } = Promise.withResolvers<never>()
  const live = liveWidgets({
    events: createMemoryEvents().listen([]),
    list: async () => [{ app: 'app_a' } as WidgetRow],
    appeared: async () => null,
    read: () => promise,
    failed: error => failures.push(error),
  })
  await vi.advanceTimersByTimeAsync(0)
  await live.return!()
  reject(new Error('The router is gone'))
  await vi.advanceTimersByTimeAsync(0)
  expect(failures).toEqual([])
})

test('an app that was installed later is shown after its event, and a failure to find it is reported', async () => {
  const events = createMemoryEvents()
  const failures: unknown[] = []
  let appeared = async (_: string): Promise<WidgetRow | null> => null
  const live = liveWidgets({
    events: events.listen(['widgets']),
    list: async () => [],
    appeared: app => appeared(app),
    read: async () => ({ state: 'OVERVIEW', failure: { code: 'TIMEOUT', message: '' }, payload: null, readAt: null }),
    failed: error => failures.push(error),
  })
  const change = async (app: string) => {
    events.announce('widgets', { app })
    await vi.advanceTimersByTimeAsync(200)
  }
  await vi.advanceTimersByTimeAsync(0)
  await change('app_none')
  const away = new Error('The registry is away')
  appeared = () => Promise.reject(away)
  await change('app_new')
  expect(failures).toEqual([away])
  appeared = async app => ({ app }) as WidgetRow
  await change('app_new')
  expect((await live.next()).value).toMatchObject({ app: 'app_new' })
  await live.return!()
})
