import { expect, test } from 'vitest'
import { type Part, testGraph } from '../supergraph-fixture.ts'

const refer = { __resolveReference: (reference: object) => reference }
const parts: Record<string, Part> = {
  posts: {
    sdl: 'type Query { posts: [Post] } type Mutation { write: Post } type Subscription { written: Post } type Post @key(fields: "id") { id: ID! author: Person } type Person @key(fields: "id") { id: ID! }',
    resolvers: { Query: { posts: () => [{ id: 'p', author: { id: 'a' } }] }, Mutation: { write: () => ({ id: 'w', author: { id: 'a' } }) } },
  },
  people: { sdl: 'type Person @key(fields: "id") { id: ID! name: String }', resolvers: { Person: { ...refer, name: () => 'Ada' } } },
  views: { sdl: 'type Post @key(fields: "id") { id: ID! views: Int }', resolvers: { Post: { ...refer, views: () => 7 } } },
}
const show = { headers: { 'x-graphql-plan': 'show' } }

test('describes a plan with its fetches in order, their dependencies, what runs in parallel, and the documents', async () => {
  const { run } = testGraph(parts, { exposePlans: true })
  const { data, extensions } = await run('{ posts { views author { name } } }', {}, show)
  expect(data).toEqual({ posts: [{ views: 7, author: { name: 'Ada' } }] })
  const plan = String(extensions?.queryPlan)
  expect(plan.match(/^\d.*$/gm)).toEqual([
    '1. posts, at once: query',
    expect.stringMatching(/^2\. (?:people|views), after 1, beside 3: entities at posts\.@(?:\.author)?$/),
    expect.stringMatching(/^3\. (?:people|views), after 1, beside 2: entities at posts\.@(?:\.author)?$/),
  ])
  expect(plan).toMatch(/people.*entities at posts\.@\.author\n[^1-9]*_entities[^1-9]*name/)
})

test('shows that a mutation’s root field waits for the one before', async () => {
  const { run } = testGraph(parts, { exposePlans: true })
  const { extensions } = await run('mutation { one: write { views } two: write { id } }', {}, show)
  expect(String(extensions?.queryPlan).match(/^\d.*$/gm)).toEqual([
    '1. posts, at once: mutation',
    '2. views, after 1: entities at one',
    '3. posts, after 2: mutation',
  ])
})

test('says that an operation without fetches needs no subgraph', async () => {
  const { run } = testGraph(parts, { exposePlans: true })
  expect((await run('{ __typename }', {}, show)).extensions).toEqual({ queryPlan: 'No subgraph is asked.' })
})

test('shows plans only to callers that request them, and only where they are enabled', async () => {
  expect(await testGraph(parts, { exposePlans: true }).run('{ posts { id } }')).not.toHaveProperty('extensions')
  expect(await testGraph(parts).run('{ posts { id } }', {}, show)).not.toHaveProperty('extensions')
})
