import { describe, expect, test } from 'vitest'
import { createMemoryEvents, mapEvents } from '../../../platform/events.ts'

describe('a listener', () => {
  test('that is behind gets at most the last thousand events, equal ones once', async () => {
    const events = createMemoryEvents()
    const stream = events.listen(['posts'])
    for (let post = 1; post <= 1_500; post++) events.announce('posts', { post: String(post) })
    for (let again = 0; again < 10; again++) events.announce('posts', { post: '1500' })
    events.announce('others', { post: 'x' })
    const seen: string[] = []
    for (let at = 0; at < 1_000; at++) seen.push((await stream.next()).value.post)
    expect([seen[0], seen.at(-1), new Set(seen).size]).toEqual(['501', '1500', 1_000])
    const pending = stream.next()
    events.announce('posts', { post: 'later' })
    expect(await pending).toEqual({ value: { post: 'later' }, done: false })
  })

  test('that ends hears nothing more, settles who waits, and is gone from all its topics', async () => {
    const events = createMemoryEvents()
    const stream = events.listen(['a', 'b'])
    const mapped = mapEvents(events.listen(['a']), ids => ids.id)
    expect([events.listenerCount('a'), events.listenerCount('b'), events.listenerCount()]).toEqual([2, 1, 3])
    const waiting = [stream.next(), mapped.next()]
    await Promise.all([stream.return(), mapped.return!()])
    expect(await Promise.all(waiting)).toEqual(Array(2).fill({ value: undefined, done: true }))
    events.announce('a', { id: '1' })
    expect(await stream.next()).toEqual({ value: undefined, done: true })
    expect(events.listenerCount()).toBe(0)
  })

  test('whose events are mapped passes over those that map to nothing', async () => {
    const events = createMemoryEvents()
    const mapped = mapEvents(events.listen(['a']), ids => (ids.id === '2' ? ids.id : undefined))
    for (const id of ['1', '2', '3']) events.announce('a', { id })
    expect(await mapped.next()).toEqual({ value: '2', done: false })
  })
})
