import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { countElements, TooManyElements } from '../../../router/engine/data/elements.ts'
import { type Data, shapeOfFetch } from '../../../router/engine/data/merge.ts'
import { createMerger } from '../../../router/engine/execute/merger.ts'
import { createWalk } from '../../../router/engine/execute/walk.ts'
import { readSupergraph } from '../../../router/engine/supergraph.ts'
import { library } from '../library-graph.ts'
import { compose, testGraph } from '../supergraph-fixture.ts'

const users = Array.from({ length: 10 }, (_, at) => ({ id: String(at) }))
const everybody = { __resolveReference: (reference: object) => reference }

/** Two subgraphs whose lists lead back to each other: what is fetched stays small, and what it makes multiplies. */
const graph = testGraph({
  pals: {
    sdl: 'type Query { users: [User] } type User @key(fields: "id") { id: ID! pals: [User] }',
    resolvers: { Query: { users: () => users }, User: { ...everybody, pals: () => users } },
  },
  friends: {
    sdl: 'type User @key(fields: "id") { id: ID! friends: [User] }',
    resolvers: { User: { ...everybody, friends: () => users } },
  },
})
const nested = (levels: number): string => (levels === 0 ? '{ id }' : `{ ${levels % 2 === 0 ? 'pals' : 'friends'} ${nested(levels - 1)} }`)

test('rejects an answer that would multiply beyond memory, when new and when repeated', { timeout: 30_000 }, async () => {
  for (const levels of [5, 6, 8, 12]) {
    for (let time = 0; time < 4; time++) {
      const answer = await graph.run(`{ users ${nested(levels)} }`)
      expect(answer.data).toBeNull()
      expect(answer.errors).toEqual([{ message: expect.stringContaining('250000 elements of lists'), extensions: { code: 'BAD_USER_INPUT' } }])
    }
  }
  expect(graph.logged).toEqual([])
})

test('answers below that limit completely', async () => {
  const answer = await graph.run(`{ users ${nested(3)} }`)
  expect(answer.text.split('"id"')).toHaveLength(10_001)
})

/** Six hundred places that are one object, which holds a list of six hundred: small to keep, long to go through. */
const crossroads = (key: string): Data => {
  const shared = { inner: Array.from({ length: 600 }, () => ({ [key]: 1 })) }
  return { list: Array.from({ length: 600 }, () => shared) }
}

test('merges an answer into no more places than a walk may visit, when new and when repeated', () => {
  const merger = createMerger(shapeOfFetch(parse('{ list { inner { a b } } }')), readSupergraph(compose(library)))
  for (let time = 0; time < 6; time++) {
    expect(() => merger.take(crossroads('a'), crossroads('b'), countElements())).toThrow(TooManyElements)
    expect(() => merger.copy(crossroads('a'), countElements())).toThrow(TooManyElements)
  }
})

test('does not traverse positions again that already share the same answer', () => {
  const merger = createMerger(shapeOfFetch(parse('{ list { inner { a } } }')), readSupergraph(compose(library)))
  for (let time = 0; time < 6; time++) {
    merger.take({}, { list: [{ inner: [{ a: 1 }] }] }, countElements())
  }
  const source = crossroads('a')
  const target = { list: source.list }
  merger.take(target, source, countElements())
  expect(target.list).toBe(source.list)
})

test('each walk has its own budget, whatever is walked between', () => {
  const walk = createWalk([{ Field: 'list' }, '@'], readSupergraph(compose(library)))
  const one = { list: [{}] }
  const shared = Array.from({ length: 1000 }, () => ({}))
  const many = { list: Array.from({ length: 300 }, () => shared) }
  for (let time = 0; time < 6; time++) {
    let met = 0
    const visit = () => {
      met++
      if (met % 1000 === 0) walk(one, () => {})
    }
    expect(() => walk(many, visit)).toThrow(TooManyElements)
    expect(met).toBeLessThan(250_000)
  }
})
