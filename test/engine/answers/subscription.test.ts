import type { ExecutionResult } from 'graphql'
import { afterEach, expect, test } from 'vitest'
import { Refusal } from '../../../platform/errors.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
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
          throw new Refusal('NOT_FOUND', 'There is no such post.')
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
        if (broken) throw new Refusal('CONFLICT', 'Broken for now.')
        return id.length
      },
      author: () => ({ id: 'a' }),
    },
  },
}
const people: Part = { sdl: 'type Author @key(fields: "id") { id: ID! name: String }', resolvers: { Author: { name: () => 'Ada' } } }

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
test('nothing of one event is left in the next: neither errors, nor data, nor the context of resolvers', async () => {
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

test('for-await ends the upstream when it is left', async () => {
  const stream = await open('subscription { postChanged { id } }')
  events.announce('post ', { id: '1' })
  for await (const result of stream) {
    expect(result.data).toEqual({ postChanged: { id: '1' } })
    break
  }
  await until(() => events.listenerCount() === 0)
})

test('a subscription that its resolver refuses is answered with the refusal instead of a stream', async () => {
  const result = answerOf((await graph.subscribe('subscription { r: refused { id } }')) as ExecutionResult)
  expect(result.data).toEqual({ r: null })
  expect(result.errors).toEqual([{ message: 'There is no such post.', path: ['r'], extensions: { code: 'NOT_FOUND', service: 'posts' } }])
})

test('a source that throws ends the stream with an error that tells nothing of it', async () => {
  const stream = await open('subscription { throws { id } }')
  const answer = await next(stream)
  expect(codesOf(answer)).toEqual(['INTERNAL_SERVER_ERROR'])
  expect(JSON.stringify(answer)).not.toContain('secret')
  expect(await stream.next()).toEqual({ value: undefined, done: true })
})

test('queries are not subscribed to, and subscriptions not executed', async () => {
  expect(codesOf(answerOf((await graph.subscribe('{ x }')) as ExecutionResult))).toEqual(['BAD_USER_INPUT'])
  expect(codesOf(await graph.run('subscription { postChanged { id } }'))).toEqual(['BAD_USER_INPUT'])
})
