import fc from 'fast-check'
import { type GraphQLSchema, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { library, monolith } from '../library-graph.ts'
import { monolithOf, runMonolith } from '../monolith.ts'
import { randomOperation } from '../random-operation.ts'
import { type Answer, answerOf, pathsOf, type TestGraph, testGraph } from '../supergraph-fixture.ts'

const graph: TestGraph = testGraph(library)
const oracle: GraphQLSchema = monolithOf(graph.schema, monolith)

/** Paths of the errors that count: those below a place that another error made null may or may not be told (section 6.4.4). */
const comparable = (answer: Answer) => pathsOf(answer).filter(path => reaches(answer.data, path.split('.')))

function reaches(data: unknown, path: string[]): boolean {
  let value = data
  for (const segment of path) {
    if (value === null || value === undefined) return false
    value = (value as Record<string, unknown>)[segment]
  }
  return true
}

/** At the last of so many runs of an operation everything that can be generated is. */
const warmRuns = 5

test('random operations answer like a single schema with everything: text, key order and error paths', { timeout: 60_000 }, async () => {
  let compared = 0
  const seed = Number(process.env.SEED ?? 20_260_101)
  const runs = Number(process.env.RUNS ?? 400)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 240 }), async choices => {
      const { source, variables } = randomOperation(graph.schema, choices)
      if (validate(graph.schema, parse(source)).length > 0) return
      const expected = answerOf(await runMonolith(oracle, source, variables))
      const first = await graph.run(source, variables)
      compared++
      const check = (actual: Answer) => {
        expect(actual.text, `${source}\n${JSON.stringify(variables)}\n${JSON.stringify(actual.errors)}`).toBe(expected.text)
        expect(comparable(actual), source).toEqual(comparable(expected))
      }
      check(first)
      // Repeated operations run in generated code.
      for (let run = 2; run < warmRuns; run++) await graph.run(source, variables)
      check(await graph.run(source, variables))
    }),
    { seed, numRuns: runs },
  )
  expect(compared).toBeGreaterThan(runs / 2)
})
