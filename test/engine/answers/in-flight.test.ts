import { describe, expect, it } from 'vitest'
import { createBytesInFlight } from '../../../router/engine/data/in-flight.ts'
import { Work, workLimits } from '../../../router/engine/work.ts'
import type { Operation } from '../../../subgraphs/subgraph.ts'
import { answerOf, codesOf, eventSource, type Part, testGraph, until } from '../supergraph-fixture.ts'

const mebibyte = 1024 * 1024
const events = eventSource()
const [ada, eve] = [
  { caller: 'ada', organization: 'castle' },
  { caller: 'eve', organization: 'hamlet' },
]

/** A subgraph whose texts are read when they are let go, so many characters each. */
function library() {
  const waiting: (() => void)[] = []
  const read = async (characters: number, operation: Operation) => {
    await new Promise<void>(resolve => waiting.push(resolve))
    operation.read(characters)
    return 'text'
  }
  const part: Part = {
    sdl: `type Query { text(characters: Int!): String, bad: String! }
      type Mutation { write(characters: Int!): Book, fail(characters: Int!): Book }
      type Book { id: ID!, text(characters: Int!): String }
      type Subscription { written(characters: Int!): String }`,
    open: (_viewer, operation) => ({ operation }),
    resolvers: {
      Query: {
        text: (_: unknown, { characters }: { characters: number }, { operation }: { operation: Operation }) => read(characters, operation),
        bad: () => {
          throw new Error('bad')
        },
      },
      Mutation: {
        write: async (_: unknown, { characters }: { characters: number }, { operation }: { operation: Operation }) => {
          await read(characters, operation)
          return { id: '1' }
        },
        fail: async (_: unknown, { characters }: { characters: number }, { operation }: { operation: Operation }) => {
          await read(characters, operation)
          throw new Error('bad')
        },
      },
      Book: { text: (_: unknown, { characters }: { characters: number }, { operation }: { operation: Operation }) => read(characters, operation) },
      Subscription: {
        written: {
          subscribe: () => events.listen(['written']),
          resolve: (_: unknown, { characters }: { characters: number }, { operation }: { operation: Operation }) => read(characters, operation),
        },
      },
    },
  }
  return { part, waiting, release: () => waiting.splice(0).forEach(go => void go()) }
}

function open({ ofCaller = 8 * mebibyte, operationTimeoutMs }: { readonly ofCaller?: number; readonly operationTimeoutMs?: number } = {}) {
  const inFlight = createBytesInFlight({ ofCaller, ofOrganization: 12 * mebibyte, all: 16 * mebibyte })
  const { part, waiting, release } = library()
  const graph = testGraph({ part }, { inFlight, ...(operationTimeoutMs !== undefined && { operationTimeoutMs }) })
  /** Lets texts be read as they are asked for until the work is done. */
  const going = async <Result>(work: Promise<Result>): Promise<Result> => {
    let done = false
    void work.finally(() => {
      done = true
    })
    while (!done) {
      release()
      await new Promise(resolve => setImmediate(resolve))
    }
    return work
  }
  return { graph, inFlight, waiting, release, going }
}

const text = (name: string, characters: number) => `${name}: text(characters: ${characters})`

describe('bytes of operations', () => {
  it('are held from the read until the answer is built', async () => {
    const { graph, inFlight, waiting, release, going } = open()
    const answer = graph.run(`{ ${text('a', mebibyte)} ${text('b', mebibyte)} }`, {}, { claim: ada })
    await until(() => waiting.length === 2)
    waiting.shift()!()
    await until(() => inFlight.total > 0)
    // Two bytes a character, but for those that nobody counts.
    expect(inFlight.total).toBe(2 * mebibyte - workLimits.step)
    release()
    expect((await going(answer)).data).toEqual({ a: 'text', b: 'text' })
    expect(inFlight.total).toBe(0)
  })

  it('are not counted for small reads', async () => {
    const { graph, inFlight, going } = open({ ofCaller: 0 })
    expect((await going(graph.run(`{ ${text('a', workLimits.step / 2)} }`, {}, { claim: ada }))).data).toEqual({ a: 'text' })
    expect(inFlight.total).toBe(0)
  })

  it('are rejected with RATE_LIMITED when the caller holds too many, while another caller is answered', async () => {
    const { graph, inFlight, waiting, going } = open()
    const first = graph.run(`{ ${text('a', 3 * mebibyte)} ${text('b', 1)} }`, {}, { claim: ada })
    await until(() => waiting.length === 2)
    const [readFirst, end] = waiting.splice(0)
    readFirst!()
    await until(() => inFlight.total > 0)
    const second = await going(graph.run(`{ ${text('a', 2 * mebibyte)} }`, {}, { claim: ada }))
    expect(second.data).toBe(null)
    expect(second.errors).toMatchObject([{ message: expect.stringContaining('one caller'), extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }])
    expect((await going(graph.run(`{ ${text('a', 2 * mebibyte)} }`, {}, { claim: eve }))).data).toEqual({ a: 'text' })
    end!()
    expect((await first).data).toEqual({ a: 'text', b: 'text' })
    expect(inFlight.total).toBe(0)
    expect((await going(graph.run(`{ ${text('a', 2 * mebibyte)} }`, {}, { claim: ada }))).data).toEqual({ a: 'text' })
  })

  it('are OPERATION_TOO_EXPENSIVE when one operation alone exceeds the limit', async () => {
    const { graph, inFlight, going } = open()
    const answer = await going(graph.run(`{ ${text('a', 5 * mebibyte)} }`, {}, { claim: ada }))
    expect([answer.data, codesOf(answer)]).toEqual([null, ['OPERATION_TOO_EXPENSIVE']])
    expect(inFlight.total).toBe(0)
  })

  it('stop further database reads of a caller close to its limit', async () => {
    const { graph, inFlight } = open()
    inFlight.hold(ada, 8 * mebibyte)
    const work = new Work('request-2', undefined, undefined, () => 0, inFlight, ada)
    await expect(work.statement(async () => 'read')).rejects.toMatchObject({ extensions: { code: 'RATE_LIMITED', retryAfter: 1 } })
    const change = new Work('request-3', undefined, undefined, () => 0, inFlight, ada)
    change.guaranteedBytes = workLimits.mutationBytes
    expect(await change.statement(async () => 'read')).toBe('read')
    expect(await new Work('request-4', undefined, undefined, () => 0, inFlight, eve).statement(async () => 'read')).toBe('read')
    inFlight.release(ada, 8 * mebibyte)
    expect((await graph.run('{ __typename }', {}, { claim: ada })).data).toEqual({ __typename: 'Query' })
  })

  it('are released when a field fails', async () => {
    const { graph, inFlight, going } = open()
    expect(codesOf(await going(graph.run(`{ ${text('a', mebibyte)} bad }`, {}, { claim: ada })))).toEqual(['INTERNAL_SERVER_ERROR'])
    await until(() => inFlight.total === 0)
  })

  it('are released when the client leaves, and later reads are not stored', async () => {
    const { graph, inFlight, waiting, release } = open()
    const client = new AbortController()
    const answer = graph.run(`{ ${text('a', mebibyte)} ${text('b', mebibyte)} }`, {}, { claim: ada, signal: client.signal })
    await until(() => waiting.length === 2)
    waiting.shift()!()
    await until(() => inFlight.total > 0)
    client.abort()
    expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED'])
    release()
    await until(() => inFlight.total === 0)
  })

  it('are released when the operation’s time is over', async () => {
    const { graph, inFlight, waiting, release } = open({ operationTimeoutMs: 200 })
    const answer = graph.run(`{ ${text('a', mebibyte)} ${text('b', mebibyte)} }`, {}, { claim: ada })
    await until(() => waiting.length === 2)
    waiting.shift()!()
    await until(() => inFlight.total > 0)
    expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED', 'UPSTREAM_FAILED'])
    expect(inFlight.total).toBe(0)
    release()
    await new Promise(resolve => setImmediate(resolve))
    expect(inFlight.total).toBe(0)
  })

  it('of an event are held until the next one is requested', async () => {
    const { graph, inFlight, waiting, release } = open()
    const stream = await graph.subscribe(`subscription { written(characters: ${mebibyte}) }`, {}, { claim: ada })
    if (!('next' in stream)) throw new Error('no stream')
    const first = stream.next()
    events.announce('written', {})
    await until(() => waiting.length === 1)
    release()
    expect((await first).value.data).toEqual({ written: 'text' })
    expect(inFlight.total).toBeGreaterThan(mebibyte)
    const second = stream.next()
    expect(inFlight.total).toBe(0)
    events.announce('written', {})
    await until(() => waiting.length === 1)
    release()
    await second
    await stream.return()
    expect(inFlight.total).toBe(0)
  })

  it('of an event above the limit fail that event', async () => {
    const { graph, inFlight, waiting, release } = open()
    const stream = await graph.subscribe(`subscription { written(characters: ${5 * mebibyte}) }`, {}, { claim: ada })
    if (!('next' in stream)) throw new Error('no stream')
    const event = stream.next()
    events.announce('written', {})
    await until(() => waiting.length === 1)
    release()
    expect(codesOf(answerOf((await event).value))).toEqual(['OPERATION_TOO_EXPENSIVE'])
    expect(inFlight.total).toBe(0)
    await stream.return()
  })
})

describe('bytes of mutations', () => {
  it('are held until the mutation has finished, although the client left', async () => {
    const { graph, inFlight, waiting } = open()
    const client = new AbortController()
    const answer = graph.run(`mutation { write(characters: ${2 * mebibyte}) { id text(characters: 1) } }`, {}, { claim: ada, signal: client.signal })
    await until(() => waiting.length === 1)
    waiting.shift()!()
    await until(() => waiting.length === 1)
    client.abort()
    expect(codesOf(await answer)).toEqual(['UPSTREAM_FAILED'])
    expect(inFlight.total).toBeGreaterThan(3 * mebibyte)
    waiting.shift()!()
    await until(() => inFlight.total === 0)
  })

  it('are granted up to a minimum while their caller holds too many, and beyond it fail their field', async () => {
    const { graph, inFlight, waiting, going } = open()
    const first = graph.run(`{ ${text('a', 4 * mebibyte - 1000)} ${text('b', 1)} }`, {}, { claim: ada })
    await until(() => waiting.length === 2)
    const [readFirst, end] = waiting.splice(0)
    readFirst!()
    await until(() => inFlight.total > 0)
    const most = workLimits.mutationBytes / 2
    const answer = await going(graph.run(`mutation { write(characters: ${most}) { id text(characters: ${mebibyte}) } }`, {}, { claim: ada }))
    expect(answer.data).toEqual({ write: { id: '1', text: null } })
    expect(answer.errors).toMatchObject([{ path: ['write', 'text'], extensions: { code: 'RATE_LIMITED', retryAfter: 1 } }])
    end!()
    await first
    expect(inFlight.total).toBe(0)
  })

  it('of a rejected field are dropped, so that later fields are answered within the limit', async () => {
    const { graph, inFlight, going } = open()
    inFlight.hold(ada, 8 * mebibyte)
    const fields = `id refused: text(characters: ${mebibyte}) answered: text(characters: 1)`
    const answer = await going(graph.run(`mutation { write(characters: ${workLimits.mutationBytes / 4}) { ${fields} } }`, {}, { claim: ada }))
    expect(answer.data).toEqual({ write: { id: '1', refused: null, answered: 'text' } })
    expect(answer.errors).toMatchObject([{ path: ['write', 'refused'], extensions: { code: 'RATE_LIMITED' } }])
    inFlight.release(ada, 8 * mebibyte)
    expect(inFlight.total).toBe(0)
  })

  it('are released when the mutation fails', async () => {
    const { graph, inFlight, going } = open()
    expect(codesOf(await going(graph.run(`mutation { fail(characters: ${mebibyte}) { id } }`, {}, { claim: ada })))).toEqual(['INTERNAL_SERVER_ERROR'])
    expect(inFlight.total).toBe(0)
  })
})
