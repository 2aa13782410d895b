import { expect, test } from 'vitest'
import { type Part, testGraph, until } from '../supergraph-fixture.ts'

/** Two root fields of two subgraphs, one of which hangs until it is let go, and a third that knows more of what stands below them. */
function parts() {
  const held: (() => void)[] = []
  const changed: string[] = []
  const graph: Record<string, Part> = {
    quick: {
      sdl: 'type Query { quick: Thing } type Thing @key(fields: "id") { id: ID! } type Mutation { first: Thing }',
      resolvers: { Query: { quick: () => ({ id: 'q' }) }, Mutation: { first: () => ({ id: 'first' }) } },
    },
    slow: {
      sdl: 'type Query { slow: Thing } type Thing @key(fields: "id") { id: ID! } type Mutation { second: Thing }',
      resolvers: {
        Query: {
          slow: async () => {
            await new Promise<void>(resolve => held.push(resolve))
            return { id: 's' }
          },
        },
        Mutation: {
          second: () => {
            changed.push('second')
            return { id: 'second' }
          },
        },
      },
    },
    names: {
      sdl: 'type Thing @key(fields: "id") { id: ID! name: String next: Thing }',
      resolvers: {
        Thing: {
          __resolveReference: (reference: object) => reference,
          async name({ id }: { id: string }) {
            for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve))
            return `${id} after ${changed.length}`
          },
        },
      },
    },
  }
  return { graph: testGraph(graph), held }
}

const asked = (sent: readonly { subgraph: string; variables: Readonly<Record<string, unknown>> }[]) =>
  sent.flatMap(({ subgraph, variables }) => (subgraph === 'names' ? [JSON.stringify(variables)] : []))

test('fetches below one root field do not wait for those below another', async () => {
  const { graph, held } = parts()
  const answer = graph.run('{ quick { id name } slow { id } }')
  await until(() => held.length === 1 && asked(graph.sent).length === 1)
  expect(asked(graph.sent)[0]).toContain('"q"')
  held[0]!()
  expect((await answer).data).toEqual({ quick: { id: 'q', name: 'q after 0' }, slow: { id: 's' } })
})

test('a mutation’s root field waits for all fetches of the one before', async () => {
  const { graph } = parts()
  const { data } = await graph.run('mutation { first { id name } second { id } }')
  expect(data).toEqual({ first: { id: 'first', name: 'first after 0' }, second: { id: 'second' } })
})
