import fc from 'fast-check'
import { type DocumentNode, type ExecutionResult, getOperationAST, Kind, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql'
import { expect, test } from 'vitest'
import type { AccessDecision, AccessFilter } from '../../../router/access/decision.ts'
import { anonymous, type Viewer } from '../../../subgraphs/viewer.ts'
import { library, monolith } from '../library-graph.ts'
import { monolithOf, runMonolith } from '../monolith.ts'
import { randomOperation } from '../random-operation.ts'
import { answerOf, type Part, pathsOf, type TestGraph, testGraph } from '../supergraph-fixture.ts'

/** Refuses `Type.field` to everybody without the scope `all`; mutations whole. */
function filterOf(refused: readonly string[], graph: () => TestGraph): AccessFilter & { seen: DocumentNode[] } {
  const seen: DocumentNode[] = []
  return {
    seen,
    filter(document, operationName, viewer): AccessDecision {
      seen.push(document)
      if (viewer.scopes.includes('all')) return { verdict: 'all', document, errors: [], refusedWhole: false }
      const errors: AccessDecision['errors'][number][] = []
      const types = new TypeInfo(graph().schema)
      const path: string[] = []
      const filtered = visit(
        document,
        visitWithTypeInfo(types, {
          Field: {
            enter(node) {
              path.push((node.alias ?? node.name).value)
              if (!refused.includes(`${types.getParentType()?.name}.${node.name.value}`)) return undefined
              errors.push({ message: 'Needs the scope all.', path: [...path], extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } })
              path.pop()
              return null
            },
            leave() {
              path.pop()
            },
          },
        }),
      )
      const operation = getOperationAST(filtered, operationName)
      const isWhole = operation?.operation === 'mutation' && errors.length > 0
      const isEmpty = operation?.selectionSet.selections.length === 0
      return { verdict: 'some', document: errors.length === 0 ? document : isEmpty ? null : filtered, errors, refusedWhole: isWhole }
    },
  }
}

const privileged: Viewer = { ...anonymous, scopes: ['all'] }

function guarded(parts: Readonly<Record<string, Part>>, ...refused: string[]) {
  const access = filterOf(refused, () => graph)
  const graph: TestGraph = testGraph(parts, { access })
  return { graph, access }
}

test('a rejected field is null and reported at its path, and its subgraph is not called for it', async () => {
  const { graph } = guarded(library, 'Author.nick', 'Book.postage')
  const answer = await graph.run('{ author(id: "a2") { likes n: nick name } book(id: "b1") { title postage lost } }')
  expect(answer.text).toBe('{"author":{"likes":null,"n":null,"name":"Bob"},"book":{"title":"One","postage":null,"lost":"page"}}')
  expect(pathsOf(answer)).toEqual(['author.n', 'book.postage'])
  expect(graph.sent.every(sent => !sent.text.includes('nick') && !sent.text.includes('postage'))).toBe(true)
})

test('a refused field that is fetched for a key or a requirement stays null for the client', async () => {
  const { graph } = guarded(library, 'Book.weight')
  const answer = await graph.run('{ book(id: "b1") { weight postage w: weight } }')
  expect(answer.text).toBe('{"book":{"weight":null,"postage":1100,"w":null}}')
  expect(graph.sent[0]?.text).toContain('weight')
})

test('a rejected non-null field nulls its parent, without a second error', async () => {
  const { graph } = guarded(library, 'Author.name')
  const answer = await graph.run('{ latest { body author { id name } } }')
  expect(answer.text).toBe('{"latest":{"body":"fine","author":null}}')
  expect(answer.errors).toEqual([{ message: 'Needs the scope all.', path: ['latest', 'author', 'name'], extensions: { code: 'UNAUTHORIZED_FIELD_OR_TYPE' } }])
})

test('a field that is rejected on one type of a union is answered on the others', async () => {
  const { graph } = guarded(library, 'Book.likes')
  expect((await graph.run('{ nodes { ... on Author { label: likes } ... on Book { label: likes title } } }')).text).toBe(
    '{"nodes":[{"label":30},{"label":null,"title":"Two"},{"label":null,"title":"One"}]}',
  )
})

test('an object that lost its whole selection still shows whether it exists', async () => {
  const { graph } = guarded(library, 'Book.weight')
  expect((await graph.run('{ a: book(id: "b1") { weight } b: book(id: "none") { weight } }')).text).toBe('{"a":{"weight":null},"b":null}')
})

test('calls no subgraph when access leaves nothing', async () => {
  const { graph } = guarded(library, 'Query.latest')
  const answer = await graph.run('{ latest { body } l: latest { stars } }')
  expect(answer.text).toBe('{"latest":null,"l":null}')
  expect(pathsOf(answer)).toEqual(['l', 'latest'])
  expect(graph.sent).toEqual([])
})

test('viewers with different verdicts never share a plan or an answer', async () => {
  const { graph } = guarded(library, 'Author.nick')
  const source = '{ author(id: "a2") { nick } }'
  for (let round = 0; round < 2; round++) {
    expect((await graph.run(source)).text).toBe('{"author":{"nick":null}}')
    expect((await graph.run(source, {}, { viewer: privileged })).text).toBe('{"author":{"nick":"bobby"}}')
  }
})

test('fields excluded by conditions are not reported, and the filter gets the same document object for the same text and conditions', async () => {
  const { graph, access } = guarded(library, 'Author.nick')
  const source = 'query ($with: Boolean!) { author(id: "a2") { name nick @include(if: $with) } }'
  expect((await graph.run(source, { with: false })).errors).toBeUndefined()
  expect((await graph.run(source, { with: false })).errors).toBeUndefined()
  expect(pathsOf(await graph.run(source, { with: true }))).toEqual(['author.nick'])
  expect(access.seen[0]).toBe(access.seen[1])
  expect(access.seen[2]).not.toBe(access.seen[0])
  expect(access.seen.every(document => document.kind === Kind.DOCUMENT)).toBe(true)
})

test('a mutation with a rejected field is rejected as a whole', async () => {
  const parts: Record<string, Part> = {
    one: {
      sdl: 'type Query { x: Int } type Mutation { a: Thing b: Int } type Thing { name: String mail: String }',
      resolvers: { Mutation: { a: () => ({}), b: () => 1 } },
    },
  }
  const { graph } = guarded(parts, 'Thing.mail')
  const answer = await graph.run('mutation { b a { name mail } }')
  expect(answer.data).toBe(null)
  expect(pathsOf(answer)).toEqual(['a.mail'])
  expect(graph.sent).toEqual([])
  expect((await graph.run('mutation { b a { name } }')).text).toBe('{"b":1,"a":{"name":null}}')
})

test('a subscription with a rejected root does not start; rejections below it are reported with each event', async () => {
  const parts: Record<string, Part> = {
    one: {
      sdl: 'type Query { x: Int } type Subscription { tick: Tick } type Tick { a: Int b: Int }',
      resolvers: {
        Subscription: {
          tick: {
            subscribe() {
              const events = [{ tick: { a: 1, b: 2 } }]
              return {
                [Symbol.asyncIterator]() {
                  return this
                },
                next: async () => (events.length > 0 ? { value: events.pop(), done: false } : { value: undefined, done: true }),
              }
            },
          },
        },
      },
    },
  }
  const refused = answerOf((await guarded(parts, 'Subscription.tick').graph.subscribe('subscription { t: tick { a } }')) as ExecutionResult)
  expect(refused.data).toEqual({ t: null })
  expect(pathsOf(refused)).toEqual(['t'])
  const stream = await guarded(parts, 'Tick.b').graph.subscribe('subscription { tick { a b } }')
  const results: unknown[] = []
  if (Symbol.asyncIterator in stream) for await (const result of stream) results.push(answerOf(result))
  expect(results).toEqual([
    { text: '{"tick":{"a":1,"b":null}}', data: { tick: { a: 1, b: null } }, errors: [expect.objectContaining({ path: ['tick', 'b'] })] },
  ])
})

test('random operations with rejected fields answer like a single schema in which those fields fail', { timeout: 60_000 }, async () => {
  const refused = ['Book.weight', 'Book.title', 'Author.name', 'Review.author', 'Review.stars', 'Book.reviews', 'Query.latest']
  const { graph } = guarded(library, ...refused)
  const withFailures = Object.fromEntries(Object.entries(monolith).map(([type, fields]) => [type, { ...fields }]))
  for (const coordinate of refused) {
    const [type, field] = coordinate.split('.') as [string, string]
    withFailures[type]![field] = () => {
      throw new Error('refused')
    }
  }
  const oracle = monolithOf(graph.schema, withFailures)
  let compared = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 160 }), async choices => {
      const { source, variables } = randomOperation(graph.schema, choices)
      if (validate(graph.schema, parse(source)).length > 0) return
      const expected = answerOf(await runMonolith(oracle, source, variables))
      const actual = await graph.run(source, variables)
      if (graph.logged.splice(0).some(line => /cannot be found in selection set of type/.test(String(line.err)))) return
      compared++
      expect(actual.text, `${source}\n${JSON.stringify(variables)}`).toBe(expected.text)
    }),
    { seed: 7, numRuns: 200 },
  )
  expect(compared).toBeGreaterThan(100)
})
