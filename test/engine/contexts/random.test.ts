import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { IncrementalForm } from '../../../router/engine/engine.ts'
import { createResponseCache } from '../../../router/engine/transport/cache/store.ts'
import { comparableErrors, deferRandomly, differs, mergedOr, undeferred } from '../../kit/payloads.ts'
import { payloadsOf } from '../incremental/payloads-of.ts'
import { randomOperation } from '../random-operation.ts'
import { type Answer, testGraph } from '../supergraph-fixture.ts'
import { carryingParts, contextParts } from './graph.ts'

const graphs = [testGraph(contextParts), testGraph(contextParts, { cache: createResponseCache(16 * 1024 * 1024) })]
const whole = testGraph(carryingParts)
const forms: readonly IncrementalForm[] = ['v0.2', '20220824']
const placesOf = ({ errors = [] }: Answer) => errors.map(({ message, path }) => `${path?.join('.')}: ${message}`).sort()

test('random operations answer as a graph whose objects carry the values, with and without cache and deferred parts', { timeout: 240_000 }, async () => {
  const seed = Number(process.env.SEED ?? 20_261_129)
  const runs = Number(process.env.RUNS ?? 150)
  const counted = { compared: 0, withContexts: 0, incremental: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 2520 }), { minLength: 40, maxLength: 200 }), async choices => {
      const { source, variables } = randomOperation(whole.schema, choices)
      if (validate(whole.schema, parse(source)).length > 0) return
      let next = 0
      const deferred = deferRandomly(source, whole.schema, below => (choices[next++ % choices.length]! + next) % below, true)
      const plain = undeferred(deferred)
      if (validate(whole.schema, parse(plain)).length > 0) return
      const expected = await whole.run(plain, variables)
      counted.compared++
      if (/price|failing|greeting/.test(plain)) counted.withContexts++
      for (let run = 0; run < 4; run++)
        for (const graph of graphs) {
          const actual = await graph.run(plain, variables)
          const about = `${plain}\n${JSON.stringify(variables)}\n${JSON.stringify(actual.errors)}`
          expect(actual.text, about).toBe(expected.text)
          expect(placesOf(actual), about).toEqual(placesOf(expected))
        }
      for (const form of forms) {
        const payloads = await payloadsOf(graphs[0]!, deferred, form, { variables })
        const about = `${form}\n${deferred}\n${payloads.map(each => JSON.stringify(each)).join('\n')}\nwhole ${JSON.stringify(expected)}`
        const merged = mergedOr(payloads, about)
        expect(differs(merged.data, expected.data, merged.failed), about).toBeNull()
        if (merged.failed.length === 0) expect(comparableErrors(merged.errors, expected.data), about).toEqual(comparableErrors(expected.errors, expected.data))
        if (payloads.length > 1) counted.incremental++
      }
    }),
    { seed, numRuns: runs, endOnFailure: process.env.SHRINK === undefined },
  )
  console.log(counted)
  expect(counted.withContexts).toBeGreaterThan(runs / 4)
  expect(counted.incremental).toBeGreaterThan(runs / 10)
})
