import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { caching } from '../../../router/engine/engine.ts'
import { createResponseCache } from '../../../router/engine/transport/cache/store.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { library } from '../library-graph.ts'
import { randomOperation } from '../random-operation.ts'
import { type Answer, answerOf, testGraph } from '../supergraph-fixture.ts'

test('random operations answer from the cache as they do without it, errors included', { timeout: 120_000 }, async () => {
  const cache = createResponseCache(16 * 1024 * 1024)
  const graph = testGraph(library, { cache })
  const plain = testGraph(library)
  const told = ({ errors = [] }: Answer) => errors.map(({ message, path, extensions }) => JSON.stringify([message, path, extensions])).sort()
  const states: Record<string, number> = {}
  const seed = Number(process.env.SEED ?? 20_261_128)
  const runs = Number(process.env.RUNS ?? 400)
  let requests = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 240 }), async choices => {
      const { source, variables } = randomOperation(graph.schema, choices)
      const document = parse(source)
      if (validate(graph.schema, document).length > 0) return
      const expected = await plain.run(source, variables)
      // What others left in the cache, what this operation left itself, and generated code.
      for (let run = 0; run < 4; run++) {
        const before = graph.sent.length
        const result = await graph.engine.execute({ document, variables, viewer: anonymous, requestId: `request-${++requests}` })
        const actual = answerOf(result)
        expect(actual.text, `${source}\n${JSON.stringify(variables)}\n${JSON.stringify(actual.errors)}`).toBe(expected.text)
        expect(told(actual), source).toEqual(told(expected))
        const state = result[caching]?.state ?? 'none'
        states[state] = (states[state] ?? 0) + 1
        if (result[caching]) expect(state === 'hit', source).toBe(graph.sent.length === before)
      }
    }),
    { seed, numRuns: runs },
  )
  console.log({ ...states, entries: cache.figures().entries })
  for (const state of ['hit', 'partial', 'miss']) expect(states[state]).toBeGreaterThan(runs / 10)
})
