import { type DocumentNode, parse } from 'graphql'
import { beforeEach, expect, test } from 'vitest'
import type { Engine, OperationRequest } from '../../../router/engine/engine.ts'
import { deduplicated } from '../../../router/engine/native/deduplicate.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { person } from '../../kit/viewers.ts'
import { type Part, testGraph, until } from '../supergraph-fixture.ts'

const [anna, ben] = [person('anna', 'org-a', ['owner']), person('ben', 'org-a', ['owner'])]

/** What is asked of the subgraph, and what lets its answers go. */
let asked: { name: string; signal: AbortSignal | undefined; answer(): void }[]
let engine: Engine

const part: Part = {
  sdl: 'type Query { held(of: ID, mark: String = "a"): String } type Mutation { change: Int }',
  resolvers: { Query: { held: (_: unknown, { of }: { of?: string }) => of ?? 'it' }, Mutation: { change: () => 1 } },
}

beforeEach(() => {
  asked = []
  const graph = testGraph(
    { part },
    {
      intercept(fetch, call, next) {
        const { promise, resolve } = Promise.withResolvers<void>()
        asked.push({ name: fetch.kind, signal: call.signal, answer: resolve })
        return promise.then(next)
      },
    },
  )
  engine = deduplicated(graph.engine, ['x-tenant'])
})

const held: DocumentNode = parse(
  'query A($of: ID, $mark: String) { held(of: $of, mark: $mark) } query B { held } query C($of: ID, $mark: String) { held(mark: $mark, of: $of) }',
)
const change: DocumentNode = parse('mutation { change }')

/** The question that the others differ from in one thing each. */
const first: OperationRequest = {
  document: held,
  operationName: 'A',
  variables: { of: '1', mark: 'x' },
  viewer: anna,
  requestId: 'request-1',
  headers: new Headers(),
}
const ask = (more: Partial<OperationRequest> = {}) => engine.execute({ ...first, ...more })
const answerAll = () => {
  for (const { answer } of asked) answer()
}
/** Everything that could be asked in this moment has been. */
const quiet = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
}

test('equal queries of one viewer during a run are answered from that run', async () => {
  const all = [ask(), ask({ variables: { mark: 'x', of: '1' } }), ask({ viewer: { ...anna }, requestId: 'request-2' })]
  await until(() => asked.length > 0)
  all.push(ask())
  await quiet()
  answerAll()
  expect(await Promise.all(all)).toEqual(Array(4).fill({ data: { held: '1' } }))
  expect(asked.length).toBe(1)
})

test.each<[string, Partial<OperationRequest>]>([
  ['another viewer', { viewer: ben }],
  ['nobody', { viewer: anonymous }],
  ['the same person with other rights', { viewer: { ...anna, scopes: [] } }],
  ['other variables', { variables: { of: '2', mark: 'x' } }],
  ['no variables', { variables: undefined }],
  ['another operation of the document', { operationName: 'B', variables: undefined }],
  ['another operation of the document with the same variables', { operationName: 'C' }],
  ['another browser', { browser: { fingerprint: 'other' } }],
  ['another document', { document: parse('query A($of: ID, $mark: String) { held(of: $of, mark: $mark) }') }],
  ['another value of a header that subgraphs get', { headers: new Headers({ 'x-tenant': 'other' }) }],
  ['who asks for the cost beside the answer', { headers: new Headers({ 'x-graphql-cost': 'show' }) }],
  ['who asks for the plan beside the answer', { headers: new Headers({ 'x-graphql-plan': 'show' }) }],
  ['what the platform asks itself', { isOurs: true }],
])('%s is a run of its own', async (_, more) => {
  const both = [ask(), ask(more)]
  await until(() => asked.length === 2)
  answerAll()
  await Promise.all(both)
})

test('a header that no subgraph receives does not distinguish queries', async () => {
  const both = [ask({ headers: new Headers({ 'user-agent': 'one' }) }), ask({ headers: new Headers({ 'user-agent': 'other' }) })]
  await until(() => asked.length > 0)
  await quiet()
  answerAll()
  await Promise.all(both)
  expect(asked.length).toBe(1)
})

test('forgets an answered query: the next one reads again', async () => {
  for (const times of [1, 2]) {
    const answer = ask()
    await until(() => asked.length === times)
    answerAll()
    await answer
  }
})

test('a query after an answered mutation joins no run that began before it', async () => {
  const before = ask()
  await until(() => asked.length === 1)
  const changing = engine.execute({ document: change, viewer: anna, requestId: 'request-2' })
  await until(() => asked.length === 2)
  asked[1]!.answer()
  expect(await changing).toEqual({ data: { change: 1 } })
  const after = [ask(), ask()]
  await until(() => asked.length === 3)
  await quiet()
  expect(asked.length).toBe(3)
  // The end of what ran before takes nothing from what runs since.
  asked[0]!.answer()
  await before
  after.push(ask())
  await quiet()
  expect(asked.length).toBe(3)
  answerAll()
  expect(await Promise.all([before, ...after])).toEqual(Array(4).fill({ data: { held: '1' } }))
})

test('runs each of several equal mutations', async () => {
  const both = [1, 2].map(() => engine.execute({ document: change, viewer: anna, requestId: 'request-1' }))
  await until(() => asked.length === 2)
  answerAll()
  await Promise.all(both)
})

test('a caller who leaves is answered at once and the others are unaffected; when all have left the run ends', async () => {
  const [one, other] = [new AbortController(), new AbortController()]
  const [left, stayed] = [ask({ signal: one.signal }), ask({ signal: other.signal })]
  await until(() => asked.length === 1)
  one.abort()
  expect((await left).errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_FAILED'])
  expect(asked[0]!.signal?.aborted).toBe(false)
  other.abort()
  // A new caller does not join a request that is ending.
  const next = ask()
  await stayed
  expect(asked[0]!.signal?.aborted).toBe(true)
  await until(() => asked.length === 2)
  answerAll()
  expect(await next).toEqual({ data: { held: '1' } })
})

test('when the first caller leaves, those who joined still get the answer', async () => {
  const first = new AbortController()
  const [left, joined] = [ask({ signal: first.signal }), ask()]
  await until(() => asked.length === 1)
  first.abort()
  await left
  answerAll()
  expect(await joined).toEqual({ data: { held: '1' } })
})

test('joins no runs of a document beyond sixteen different ones', async () => {
  const names = [...Array.from({ length: 16 }, (_, n) => String(n)), 'last', 'last', '0']
  const many = names.map(of => ask({ variables: { of } }))
  await until(() => asked.length === 18)
  await quiet()
  answerAll()
  expect(await Promise.all(many)).toEqual(names.map(held => ({ data: { held } })))
  expect(asked.length).toBe(18)
})

test('joins a run that still runs and never one that has ended, whichever of several ends first', async () => {
  const [first, second] = [ask({ variables: { of: '1' } }), ask({ variables: { of: '2' } })]
  await until(() => asked.length === 2)
  asked[0]!.answer()
  await first
  const more = [ask({ variables: { of: '2' } })]
  await quiet()
  expect(asked.length).toBe(2)
  more.push(ask({ variables: { of: '1' } }))
  await until(() => asked.length === 3)
  await quiet()
  expect(asked.length).toBe(3)
  answerAll()
  expect(await Promise.all([second, ...more])).toEqual(['2', '2', '1'].map(held => ({ data: { held } })))
})

test('starts nothing for a caller who left before', async () => {
  const { errors } = await ask({ signal: AbortSignal.abort() })
  expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['UPSTREAM_FAILED'])
  await quiet()
  expect(asked).toEqual([])
})
