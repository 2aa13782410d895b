import { describe, expect, test } from 'vitest'
import { createMemoryEvents, mapEvents } from '../../../platform/events.ts'

describe('a listener of events', () => {
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

  test('that ends receives nothing more, settles pending reads, and is removed from all its topics', async () => {
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

  test('with a map skips events that map to nothing', async () => {
    const events = createMemoryEvents()
    const mapped = mapEvents(events.listen(['a']), ids => (ids.id === '2' ? ids.id : undefined))
    for (const id of ['1', '2', '3']) events.announce('a', { id })
    expect(await mapped.next()).toEqual({ value: '2', done: false })
  })

  test('receives an event at once when it waits, in order of waiting, and queued ones later in order', async () => {
    const events = createMemoryEvents()
    const stream = events.listen(['a', 'b'])
    const [first, second] = [stream.next(), stream.next()]
    for (const [topic, id] of [
      ['a', '1'],
      ['b', '2'],
      ['b', '3'],
      ['a', '4'],
    ] as const)
      events.announce(topic, { id })
    expect(await Promise.all([first, second, stream.next(), stream.next()])).toEqual(['1', '2', '3', '4'].map(id => ({ value: { id }, done: false })))
  })

  test('that ends drops its queue, and other listeners of its topics continue', async () => {
    const events = createMemoryEvents()
    const [leaving, staying] = [events.listen(['a', 'b']), events.listen(['a'])]
    events.announce('a', { id: '1' })
    expect(await leaving.return()).toEqual({ value: undefined, done: true })
    expect(await leaving.next()).toEqual({ value: undefined, done: true })
    expect([events.listenerCount('a'), events.listenerCount('b'), events.listenerCount('nobody’s'), events.listenerCount()]).toEqual([1, 0, 0, 1])
    events.announce('a', { id: '2' })
    expect([(await staying.next()).value, (await staying.next()).value]).toEqual([{ id: '1' }, { id: '2' }])
    await leaving.return()
    expect(events.listenerCount('a')).toBe(1)
    await staying.return()
    expect(events.listenerCount()).toBe(0)
    const again = events.listen(['a'])
    await leaving.return()
    expect(events.listenerCount('a')).toBe(1)
    await again.return()
  })

  test('may name a topic twice, and gets each event once', async () => {
    const events = createMemoryEvents()
    const stream = events.listen(['a', 'a'])
    const waiting = [stream.next(), stream.next()]
    events.announce('a', { id: '1' })
    expect(events.listenerCount('a')).toBe(1)
    await stream.return()
    expect(await Promise.all(waiting)).toEqual([
      { value: { id: '1' }, done: false },
      { value: undefined, done: true },
    ])
    expect(events.listenerCount()).toBe(0)
  })
})

describe('a stream of events, mapped or not,', () => {
  const open = (events: ReturnType<typeof createMemoryEvents>) => [events.listen(['a']), mapEvents(events.listen(['a']), ({ id }) => ({ id }))]

  test('is read by a loop, and leaving the loop ends it', async () => {
    const events = createMemoryEvents()
    for (const stream of open(events)) {
      for (const id of ['1', '2']) events.announce('a', { id })
      const seen: unknown[] = []
      for await (const event of stream) if (seen.push(event) === 2) break
      expect(seen).toEqual([{ id: '1' }, { id: '2' }])
      expect(await stream.next()).toEqual({ value: undefined, done: true })
    }
    expect(events.listenerCount()).toBe(0)
  })

  test('is ended by an error of its reader, who gets it back', async () => {
    const events = createMemoryEvents()
    const failure = new Error('the reader left')
    for (const stream of open(events)) await expect(stream.throw!(failure)).rejects.toBe(failure)
    expect(events.listenerCount()).toBe(0)
  })

  test('reports its end to the caller that ends it', async () => {
    for (const stream of open(createMemoryEvents())) expect(await stream.return!()).toEqual({ value: undefined, done: true })
  })
})
