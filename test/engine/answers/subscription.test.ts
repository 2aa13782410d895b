import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionResult } from 'graphql'
import { afterEach, expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { createMemoryEvents } from '../../../platform/events.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { createShares } from '../../../router/live/shares.ts'
import { answerOf, codesOf, eventSource, type Part, testGraph, until } from '../supergraph-fixture.ts'

const events = eventSource()
let opened = 0
let broken = false

const posts: Part = {
  sdl: `type Query { x: Int } type Subscription { postChanged(id: ID): Post refused: Post throws: Post generated: Post }
    type Post @key(fields: "id") { id: ID! title: String context: Int }`,
  open: () => ({ number: ++opened }),
  resolvers: {
    Subscription: {
      postChanged: {
        subscribe: (_: unknown, { id }: { id?: string }) => events.listen([`post ${id ?? ''}`]),
        resolve: (event: { id: string }) => ({ id: event.id }),
      },
      refused: {
        subscribe() {
          throw new DomainError('NOT_FOUND', 'There is no such post.')
        },
      },
      throws: {
        subscribe: () => ({
          [Symbol.asyncIterator]() {
            return this
          },
          next: () => Promise.reject(new Error('secret')),
        }),
      },
    },
    Post: { title: ({ id }: { id: string }) => `title ${id}`, context: (_: unknown, __: unknown, context: { number: number }) => context.number },
  },
}
const likes: Part = {
  sdl: 'type Post @key(fields: "id") { id: ID! likes: Int author: Author } type Author @key(fields: "id") { id: ID! }',
  resolvers: {
    Post: {
      likes({ id }: { id: string }) {
        if (broken) throw new DomainError('CONFLICT', 'Broken for now.')
        return id.length
      },
      author: () => ({ id: 'a' }),
    },
  },
}
const people: Part = { sdl: 'type Author @key(fields: "id") { id: ID! name: String }', resolvers: { Author: { name: () => 'Ada' } } }

let begin = () => {}
/** Whatever it does takes some turns of the event loop, or for ever. */
const slow: Part = {
  sdl: `type Subscription { slowly: Post late: Post } type Post @key(fields: "id") { id: ID! waited: ID }`,
  resolvers: {
    Subscription: {
      slowly: { subscribe: () => events.listen(['slowly']), resolve: async (event: { id: string }) => ({ id: event.id }) },
      late: {
        subscribe: async () => {
          await new Promise<void>(resolve => {
            begin = resolve
          })
          return events.listen(['late'])
        },
      },
    },
    Post: { waited: ({ id }: { id: string }) => (id === 'for ever' ? new Promise(() => {}) : delay(20, id)) },
  },
}

const graph = testGraph({ posts, likes, people })
const streams: ResultStream[] = []

async function open(source: string, variables?: Record<string, unknown>, signal?: AbortSignal): Promise<ResultStream> {
  const stream = await graph.subscribe(source, variables, signal ? { signal } : {})
  if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream))
  streams.push(stream)
  return stream
}

const next = async (stream: ResultStream) => answerOf((await stream.next()).value as ExecutionResult)

afterEach(async () => {
  for (const stream of streams.splice(0)) await stream.return()
  broken = false
  expect(events.listenerCount()).toBe(0)
})

test('each event runs the rest of the plan and is shaped for the client', async () => {
  const stream = await open('subscription ($id: ID) { p: postChanged(id: $id) { likes a: author { n: name } id: title } }', { id: '7' })
  events.announce('post 7', { id: '7' })
  expect((await next(stream)).text).toBe('{"p":{"likes":1,"a":{"n":"Ada"},"id":"title 7"}}')
  events.announce('post 7', { id: '77' })
  expect((await next(stream)).text).toBe('{"p":{"likes":2,"a":{"n":"Ada"},"id":"title 77"}}')
})

// Trap 10.
test('carries neither errors, data nor resolver context from one event to the next', async () => {
  const stream = await open('subscription { postChanged { likes context } }')
  broken = true
  events.announce('post ', { id: '1' })
  const first = await next(stream)
  expect(first.errors).toEqual([{ message: 'Broken for now.', path: ['postChanged', 'likes'], extensions: { code: 'CONFLICT', service: 'likes' } }])
  broken = false
  events.announce('post ', { id: '2' })
  const second = await next(stream)
  expect(second.errors).toBeUndefined()
  expect(second.data.postChanged.context).toBeGreaterThan(first.data.postChanged.context)
})

test('an event has its own time limit, although it comes an hour after the stream was opened', async () => {
  let hours = 0
  const slowly = testGraph({ posts, likes, people, slow }, { now: () => performance.now() + hours * 3_600_000 })
  const stream = (await slowly.subscribe('subscription { slowly { likes waited } }')) as ResultStream
  streams.push(stream)
  for (const id of ['1', '2']) {
    hours++
    events.announce('slowly', { id })
    expect(await next(stream)).toMatchObject({ data: { slowly: { likes: 1, waited: id } } })
  }
})

test('an event that exceeds its time fails alone, and the stream continues', async () => {
  const hasty = testGraph({ posts, likes, people, slow }, { operationTimeoutMs: 50 })
  const stream = (await hasty.subscribe('subscription { slowly { waited } }')) as ResultStream
  streams.push(stream)
  events.announce('slowly', { id: 'for ever' })
  const { data, errors } = await next(stream)
  expect(data).toEqual({ slowly: null })
  expect(errors).toEqual([{ message: expect.stringContaining('did not answer'), path: ['slowly'], extensions: { code: 'UPSTREAM_FAILED', service: 'slow' } }])
  events.announce('slowly', { id: '2' })
  expect((await next(stream)).data).toEqual({ slowly: { waited: '2' } })
})

test('rejects a subscription that does not start in time, and removes its listener when it starts after all', async () => {
  const hasty = testGraph({ posts, likes, people, slow }, { operationTimeoutMs: 50 })
  const result = answerOf((await hasty.subscribe('subscription { late { id } }')) as ExecutionResult)
  expect(result.errors).toMatchObject([{ extensions: { code: 'UPSTREAM_FAILED', service: 'slow' } }])
  begin()
  await until(() => events.listenerCount('late') === 0)
})

test('return() settles a pending next() at once and leaves no listener, without waiting for another event', async () => {
  const opening = Array.from({ length: 5 }, () => open('subscription { postChanged { likes } }'))
  const all = await Promise.all(opening)
  expect(events.listenerCount('post ')).toBe(5)
  const pending = all.map(stream => stream.next())
  for (const stream of all) expect(await stream.return()).toEqual({ value: undefined, done: true })
  expect(events.listenerCount()).toBe(0)
  expect(await Promise.all(pending)).toEqual(Array(5).fill({ value: undefined, done: true }))
  expect(await all[0]!.next()).toEqual({ value: undefined, done: true })
})

test('an event that is being worked on when the client leaves is not delivered', async () => {
  const stream = await open('subscription { postChanged { likes author { name } } }')
  events.announce('post ', { id: '1' })
  const pending = stream.next()
  await stream.return()
  expect(await pending).toEqual({ value: undefined, done: true })
})

test('the signal of the request ends the stream', async () => {
  const controller = new AbortController()
  const stream = await open('subscription { postChanged { likes } }', {}, controller.signal)
  const pending = stream.next()
  controller.abort()
  expect(await pending).toEqual({ value: undefined, done: true })
  expect(events.listenerCount()).toBe(0)
  const late = await open('subscription { postChanged { likes } }', {}, controller.signal)
  expect(await late.next()).toEqual({ value: undefined, done: true })
  expect(events.listenerCount()).toBe(0)
})

test('leaving a for-await loop ends the upstream', async () => {
  const stream = await open('subscription { postChanged { id } }')
  events.announce('post ', { id: '1' })
  for await (const result of stream) {
    expect(result.data).toEqual({ postChanged: { id: '1' } })
    break
  }
  await until(() => events.listenerCount() === 0)
})

test('a subscription that its resolver rejects is answered with the error instead of a stream', async () => {
  const result = answerOf((await graph.subscribe('subscription { r: refused { id } }')) as ExecutionResult)
  expect(result.data).toEqual({ r: null })
  expect(result.errors).toEqual([{ message: 'There is no such post.', path: ['r'], extensions: { code: 'NOT_FOUND', service: 'posts' } }])
})

test('a source that throws ends the stream with an error without internal details', async () => {
  const stream = await open('subscription { throws { id } }')
  const answer = await next(stream)
  expect(codesOf(answer)).toEqual(['INTERNAL_SERVER_ERROR'])
  expect(JSON.stringify(answer)).not.toContain('secret')
  expect(await stream.next()).toEqual({ value: undefined, done: true })
})

test('rejects a query at subscribe, and a subscription at execute', async () => {
  expect(codesOf(answerOf((await graph.subscribe('{ x }')) as ExecutionResult))).toEqual(['BAD_USER_INPUT'])
  expect(codesOf(await graph.run('subscription { postChanged { id } }'))).toEqual(['BAD_USER_INPUT'])
})

test('many streams resolve an event a few at a time, and further events of the subject count once', async () => {
  const announced = createMemoryEvents()
  const held: (() => void)[] = []
  let [running, most, worked] = [0, 0, 0]
  const slow: Part = {
    sdl: 'type Query { x: Int } type Subscription { changed(n: Int): Thing } type Thing { id: ID! }',
    resolvers: {
      Subscription: { changed: { subscribe: () => announced.listen(['changed']), resolve: (event: object) => event } },
      Thing: {
        async id({ id }: { id: string }) {
          worked += 1
          running += 1
          most = Math.max(most, running)
          await new Promise<void>(resolve => held.push(resolve))
          running -= 1
          return id
        },
      },
    },
  }
  const shares = createShares({ each: 2, waiting: Number.POSITIVE_INFINITY, ofOrganization: 4, all: 4, timeoutMs: Number.POSITIVE_INFINITY })
  const graph = testGraph({ slow })
  const streams = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      graph.subscribe('subscription ($n: Int) { changed(n: $n) { id } }', { n }, { inTurn: work => shares.run({ caller: 'one', organization: 'one' }, work) }),
    ),
  )
  let received = 0
  const reading = streams.map(async stream => {
    for await (const result of stream as ResultStream) if (result.data) received += 1
  })
  announced.announce('changed', { id: 'a' })
  await until(() => held.length === 2)
  for (let again = 0; again < 50; again += 1) announced.announce('changed', { id: 'a' })
  const release = setInterval(() => held.splice(0).forEach(go => void go()), 1)
  await until(() => received === 20)
  clearInterval(release)
  expect([most, worked]).toEqual([2, 20])
  for (const stream of streams) await (stream as ResultStream).return()
  await Promise.all(reading)
})
