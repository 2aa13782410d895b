import { request } from 'node:http'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { DomainError } from '../../../platform/errors.ts'
import { serveSubgraph } from '../../../router/apart/server.ts'
import type { ResultStream } from '../../../router/engine/engine.ts'
import { loadCompiler } from '../../../router/engine/transport/compiled.ts'
import { createLoader } from '../../../subgraphs/store/loader.ts'
import type { Operation } from '../../../subgraphs/subgraph.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { codesOf, eventSource, type Part, subgraphOf, testGraph, until } from '../supergraph-fixture.ts'

const events = eventSource()

/** A subgraph whose fields hang until they are let go, and which remembers its operations and what its loader read. */
function slowly() {
  const operations: Operation[] = []
  const read: string[] = []
  const held: (() => void)[] = []
  const part: Part = {
    sdl: `type Query { things: [Thing] } type Thing { id: ID! name: String next: Thing } type Mutation { change: Thing } type Subscription { changed: Thing }`,
    open(_viewer, operation) {
      operations.push(operation)
      const names = createLoader<string, string>(operation, async ids => {
        read.push(...ids)
        return ids.map(id => `name of ${id}`)
      })
      return { operation, names }
    },
    resolvers: {
      Query: { things: () => [{ id: '1' }, { id: '2' }] },
      Mutation: { change: () => ({ id: 'm' }) },
      Subscription: { changed: { subscribe: () => events.listen(['changed']), resolve: () => ({ id: 'e' }) } },
      Thing: {
        name: ({ id }: { id: string }, _: unknown, { names }: { names: { load(id: string): Promise<string> } }) => names.load(id),
        next: async ({ id }: { id: string }) => {
          await new Promise<void>(resolve => held.push(resolve))
          return { id: `${id}+` }
        },
      },
    },
  }
  return { part, operations, read, held, release: () => held.splice(0).forEach(go => void go()) }
}

const deeper = '{ things { name next { name next { name } } } }'
const turns = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
}

test('reads nothing more after the client left', async () => {
  const { part, operations, read, held, release } = slowly()
  const client = new AbortController()
  const answer = testGraph({ part }).run(deeper, {}, { signal: client.signal })
  await until(() => held.length === 2)
  expect(read).toEqual(['1', '2'])
  expect(operations[0]!.signal.aborted).toBe(false)
  client.abort()
  expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED'])
  expect(operations[0]!.signal.aborted).toBe(true)
  release()
  await turns()
  expect(read).toEqual(['1', '2'])
})

test('reads nothing more after the operation’s time is over', async () => {
  const { part, operations, read, held, release } = slowly()
  const answer = testGraph({ part }, { operationTimeoutMs: 100 }).run(deeper)
  await until(() => held.length === 2)
  expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED'])
  release()
  await turns()
  expect(operations[0]!.signal.aborted).toBe(true)
  expect(read).toEqual(['1', '2'])
})

test('never aborts the signal of an answered operation', async () => {
  const { part, operations } = slowly()
  const client = new AbortController()
  let now = 0
  await testGraph({ part }, { now: () => now }).run('{ things { name } }', {}, { signal: client.signal })
  const { signal } = operations[0]!
  client.abort()
  now = 3_600_000
  expect(signal.aborted).toBe(false)
})

test('reports the reason for which an operation was ended', async () => {
  const { part, held, release } = slowly()
  const client = new AbortController()
  const answer = testGraph({ part }).run(deeper, {}, { signal: client.signal })
  await until(() => held.length === 2)
  client.abort(new DomainError('BAD_USER_INPUT', 'Ask for less.'))
  expect((await answer).errors).toEqual([{ message: 'Ask for less.', extensions: { code: 'BAD_USER_INPUT' } }])
  release()
})

test('a mutation finishes what it has begun, although its client leaves', async () => {
  const { part, operations, read, held, release } = slowly()
  const client = new AbortController()
  const answer = testGraph({ part }).run('mutation { change { next { name } } }', {}, { signal: client.signal })
  await until(() => held.length === 1)
  client.abort()
  await answer
  release()
  await until(() => read.length === 1)
  expect(operations.every(({ signal }) => !signal.aborted)).toBe(true)
})

test('a stream that ends during an event starts nothing more for it', async () => {
  const { part, operations, read, held, release } = slowly()
  const stream = (await testGraph({ part }).subscribe('subscription { changed { next { name } } }')) as ResultStream
  const pending = stream.next()
  events.announce('changed', {})
  await until(() => held.length === 1)
  await stream.return()
  expect(await pending).toEqual({ value: undefined, done: true })
  release()
  await turns()
  expect(operations.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(read).toEqual([])
})

test('logs no failure for work that was aborted', async () => {
  const held: (() => void)[] = []
  const keys: Part = {
    sdl: 'type Query { thing: Thing } type Subscription { changed: Thing } type Thing @key(fields: "id") { id: ID! }',
    resolvers: {
      Query: { thing: () => ({ id: '1' }) },
      Subscription: { changed: { subscribe: () => events.listen(['changed']), resolve: () => ({ id: '1' }) } },
    },
  }
  const names: Part = {
    sdl: 'type Thing @key(fields: "id") { id: ID! name: String }',
    resolvers: {
      Thing: {
        __resolveReference: async ({ id }: { id: string }) => {
          await new Promise<void>(resolve => held.push(resolve))
          return { id, name: 'x' }
        },
      },
    },
  }
  const release = async () => {
    for (const go of held.splice(0)) go()
    await turns()
  }
  const graph = testGraph({ keys, names })
  // A repeated operation is compiled, and compiled code settles lists in another way.
  for (let time = 0; time < 3; time++) {
    const answered = graph.run('{ thing { name } }')
    await until(() => held.length === 1)
    await release()
    expect((await answered).data).toEqual({ thing: { name: 'x' } })
    await loadCompiler()
  }
  const client = new AbortController()
  const answer = graph.run('{ thing { name } }', {}, { signal: client.signal })
  await until(() => held.length === 1)
  client.abort()
  expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED'])
  await release()
  const stream = (await graph.subscribe('subscription { changed { name } }')) as ResultStream
  const pending = stream.next()
  events.announce('changed', {})
  await until(() => held.length === 1)
  await stream.return()
  expect(await pending).toEqual({ value: undefined, done: true })
  await release()
  expect(graph.logged).toEqual([])
})

test('a distributed subgraph starts nothing more when the router disconnects', async () => {
  const { part, operations, read, held, release } = slowly()
  const subgraph = { ...subgraphOf(part), registration: { slug: 'part' } as never }
  const log = pino({ level: 'silent' })
  const server = await serveSubgraph({
    subgraph,
    seals: { read: async () => anonymous, streaming: viewer => viewer },
    host: '127.0.0.1',
    port: 0,
    publicUrl: 'http://localhost',
    readiness: [],
    log,
  })
  const asking = request({ host: '127.0.0.1', port: server.port, path: '/graphql', method: 'POST' })
  asking.on('error', () => {})
  asking.end(JSON.stringify({ query: deeper }))
  await until(() => held.length === 2)
  asking.destroy()
  await until(() => operations[0]!.signal.aborted)
  release()
  await turns()
  expect(read).toEqual(['1', '2'])
  await server.close()
})
