import { expect, test } from 'vitest'
import { library } from '../library-graph.ts'
import { type Part, testGraph } from '../supergraph-fixture.ts'

const graph = testGraph(library)

// The first planner: "Path 'book.reviews.@.book' cannot be found in selection set of type Query".
test('answers an entity that requires its own fields and is reached through an entity of its own type', async () => {
  const answer = await graph.run('{ book(id: "b3") { reviews { book { postage } } } }')
  expect(answer.errors).toBeUndefined()
  expect(answer.text).toBe('{"book":{"reviews":[{"book":{"postage":3300}}]}}')
})

test('answers it in a graph whose entities have tags of the response cache', async () => {
  const tags: Part = { sdl: 'type Query { tagged(id: ID!): String @cacheTag(format: "tagged-{$args.id}") }' }
  const tagged = testGraph({ ...library, tags })
  const answer = await tagged.run('{ book(id: "b3") { reviews { book { postage } } } }')
  expect(answer.errors).toBeUndefined()
  expect(answer.text).toBe('{"book":{"reviews":[{"book":{"postage":3300}}]}}')
})

test('answers the same with aliases, arguments and variables, also once its code is generated', async () => {
  const source = `query ($id: ID!, $least: Int) {
    book(id: $id) { cost: weight id: reviews(atLeast: $least) { weight: book { postage cost(in: CENT) other: cost } } }
  }`
  for (let run = 0; run < 5; run++) {
    const answer = await graph.run(source, { id: 'b1', least: 2 })
    expect(answer.errors).toBeUndefined()
    expect(answer.text).toBe('{"book":{"cost":100,"id":[{"weight":{"postage":1100,"cost":1000,"other":10}}]}}')
  }
})
