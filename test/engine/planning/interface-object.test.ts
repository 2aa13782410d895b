import { describe, expect, test } from 'vitest'
import { actors } from '../../differential/graphs/actors.ts'
import { testGraph } from '../supergraph-fixture.ts'

// The planner, asked for one implementation alone, forgets the key by which a subgraph knows the interface.
describe('an interface object that is narrowed to one implementation answers its fields', () => {
  const graph = testGraph(actors.parts)
  test.each([
    ['{ actors { friends { ... on User { likes } } } }', '{"actors":[{"friends":[{},{"likes":14}]},{"friends":[{"likes":14}]},{"friends":[]}]}'],
    [
      '{ posts { author { ... on Bot { k0: posts { stars } owner { name } } } } }',
      '{"posts":[{"author":{}},{"author":{"k0":[{"stars":3}],"owner":{"name":"Ada"}}}]}',
    ],
    [
      '{ posts { author { friends { ... on Bot { name: id } ... on User { id likes } } } } }',
      '{"posts":[{"author":{"friends":[{"name":"b1"},{"id":"u2","likes":14}]}},{"author":{"friends":[{"id":"u1","likes":14}]}}]}',
    ],
  ])('%s', async (source, expected) => {
    const answer = await graph.run(source)
    expect(answer.errors).toBeUndefined()
    expect(answer.text).toBe(expected)
  })
})
