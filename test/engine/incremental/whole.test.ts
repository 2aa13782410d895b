import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { IncrementalForm } from '../../../router/engine/engine.ts'
import { anonymous } from '../../../subgraphs/viewer.ts'
import { comparableErrors, deferRandomly, differs, mergedOr, undeferred } from '../../kit/payloads.ts'
import { library } from '../library-graph.ts'
import { randomOperation } from '../random-operation.ts'
import { answerOf, testGraph } from '../supergraph-fixture.ts'
import { payloadsOf } from './payloads-of.ts'

const graph = testGraph(library)
const forms: readonly IncrementalForm[] = ['v0.2', '20220824']

/** At the last of so many runs of an operation everything that can be generated is. */
const warmRuns = 4

test('merges to the undeferred answer, errors included, whatever fragments are deferred', { timeout: 120_000 }, async () => {
  const seed = Number(process.env.SEED ?? 20_260_201)
  const runs = Number(process.env.RUNS ?? 300)
  const counted = { compared: 0, incremental: 0, failed: 0, payloads: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 240 }),
      fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 80 }),
      async (choices, defers) => {
        const { source, variables } = randomOperation(graph.schema, choices)
        if (validate(graph.schema, parse(source)).length > 0) return
        let next = 0
        const deferred = deferRandomly(source, graph.schema, below => (defers[next++ % defers.length]! + next) % below, true)
        if (validate(graph.schema, parse(undeferred(deferred))).length > 0) return
        const plain = undeferred(deferred)
        const whole = await graph.run(plain, variables)
        counted.compared++
        for (let run = 1; run <= warmRuns; run++)
          for (const form of forms) {
            const payloads = await payloadsOf(graph, deferred, form, { variables })
            const told = `${form} ${run}\n${deferred}\n${JSON.stringify(variables)}\n${payloads.map(each => JSON.stringify(each)).join('\n')}\nwhole ${JSON.stringify(whole)}`
            const merged = mergedOr(payloads, told)
            expect(differs(merged.data, whole.data, merged.failed), told).toBeNull()
            if (merged.failed.length === 0) expect(comparableErrors(merged.errors, whole.data), told).toEqual(comparableErrors(whole.errors, whole.data))
            counted.incremental += payloads.length > 1 ? 1 : 0
            counted.failed += merged.failed.length > 0 ? 1 : 0
            counted.payloads += payloads.length
          }
      },
    ),
    { seed, numRuns: runs, endOnFailure: process.env.SHRINK === undefined },
  )
  console.log(counted)
  expect(counted.compared).toBeGreaterThan(runs / 2)
  expect(counted.incremental).toBeGreaterThan(counted.compared)
})

test('answers at once what a caller without a form asks for', async () => {
  const answer = await graph.engine.execute({ document: parse('{ books { title ... @defer { likes } } }'), viewer: anonymous, requestId: 'r' })
  expect(answerOf(answer).data).toEqual({
    books: [
      { title: 'One', likes: 10 },
      { title: 'Two', likes: 20 },
    ],
  })
})
