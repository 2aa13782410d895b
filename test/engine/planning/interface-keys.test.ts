import { expect, test } from 'vitest'
import { testGraph } from '../supergraph-fixture.ts'

// Keys of interfaces that a subgraph knows as objects have no private names.
test('a mutation that is named like the key of an interface runs as often as it is requested', async () => {
  let runs = 0
  const graph = testGraph({
    one: {
      sdl: `type Query { first: Person } type Mutation { token: Int }
        interface Person @key(fields: "token") { token: ID! } type Pupil implements Person @key(fields: "token") { token: ID! }`,
      resolvers: {
        Query: { first: () => ({ __typename: 'Pupil', token: 't' }) },
        Mutation: { token: () => ++runs },
        Person: { __resolveType: () => 'Pupil' },
      },
    },
    two: { sdl: 'type Person @key(fields: "token") @interfaceObject { token: ID! badge: Int }', resolvers: { Person: { badge: () => 7 } } },
  })
  expect((await graph.run('mutation { a: token b: token }')).text).toBe('{"a":1,"b":2}')
  expect((await graph.run('{ first { key: token badge token } }')).text).toBe('{"first":{"key":"t","badge":7,"token":"t"}}')
})
