import { expect, test } from 'vitest'
import { testGraph } from '../supergraph-fixture.ts'

const parts = {
  catalogue: {
    sdl: 'type Query { word(of: String, at: Int, loud: Boolean): String }',
    resolvers: {
      Query: {
        word: () => {
          time += 40
          return 'a word'
        },
      },
    },
  },
}
let time = 0
const now = () => time

test('logs a slow operation with its plan, and without its client’s values', async () => {
  const graph = testGraph(parts, { slowMs: 100, now })
  await graph.run('query Quick { word }')
  expect(graph.logged).toEqual([])
  await graph.run('query Slow($secret: String) { a: word(of: $secret, loud: true) b: word(of: "open sesame", at: 4711) c: word(of: """many words""") }', {
    secret: 'swordfish',
  })
  const line = { requestId: expect.any(String), operation: 'Slow', ms: 120, plan: expect.stringContaining('1. catalogue, at once: query') }
  expect(graph.logged).toEqual([line])
  const [{ plan }] = graph.logged as [{ plan: string }]
  expect(plan).toContain('loud: true')
  for (const value of ['swordfish', 'sesame', '4711', 'many words']) expect(plan).not.toContain(value)
})
