import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { afterAll, describe, expect, test } from 'vitest'
import { comparableErrors, deferRandomly, differs, mergedOr, undeferred } from '../kit/payloads.ts'
import { comparable, sentences } from './comparing.ts'
import { type Coverage, count, newCoverage } from './coverage.ts'
import { actors } from './graphs/actors.ts'
import { feed } from './graphs/feed.ts'
import type { PurposeGraph } from './graphs/graph.ts'
import { ledger } from './graphs/ledger.ts'
import { library } from './graphs/library.ts'
import { media } from './graphs/media.ts'
import { moved } from './graphs/moved.ts'
import { relatives } from './graphs/relatives.ts'
import { shipping } from './graphs/shipping.ts'
import { tariffs } from './graphs/tariffs.ts'
import { warehouse } from './graphs/warehouse.ts'
import { causeOf, refusedByPlanner, type StockError, same } from './known.ts'
import { generateOperation } from './operation.ts'
import { openStage, type Stage } from './stage.ts'

/** Operations over all graphs together; a run before a release does ten times as many. */
const operations = Number(process.env.DIFFERENTIAL_OPERATIONS ?? 280)
const seed = Number(process.env.SEED ?? 20_261_121)

const graphs: Readonly<Record<string, PurposeGraph>> = { library, warehouse, media, shipping, moved, actors, ledger, relatives, tariffs }
const coverage: Coverage = newCoverage()
const stockErrors = new Map<StockError, number>()

/** At the last of so many runs of an operation everything that can be generated is. */
const warmRuns = 4

async function compare(name: string, stage: Stage, source: string, variables: Record<string, unknown>, turn: number): Promise<void> {
  const expected = await stage.whole(source, variables)
  const context = `${source}\n${JSON.stringify(variables)}\nfailing: ${[...stage.faults]}`
  stage.logged()
  const embedded = await stage.embedded(source, variables)
  if (stage.logged().some(line => refusedByPlanner.test(String(line.err)))) return void coverage.unplanned++
  count(coverage, source, await stage.plan(source, variables), expected.errors !== undefined)
  expect(comparable(embedded, expected), context).toEqual(comparable(expected))
  expect(sentences(embedded), context).toEqual(sentences(expected))

  const remote = await stage.remote(source, variables)
  expect(comparable(remote), `over HTTP: ${context}`).toEqual(comparable(embedded))
  expect(sentences(remote), `over HTTP: ${context}`).toEqual(sentences(embedded))

  // Repeated operations run as generated code.
  if (turn % 5 === 0) {
    for (let run = 1; run < warmRuns; run++) await stage.embedded(source, variables)
    expect(comparable(await stage.embedded(source, variables), expected), `asked again: ${context}`).toEqual(comparable(expected))
  }

  if (graphs[name]!.stock === false) return
  // Its planner takes seconds for some operations on interface objects.
  if (name === 'actors' && turn % 6 !== 0) return
  const stock = await stage.stock(source, variables)
  if (same(expected, stock)) return
  const run = (engine: 'whole' | 'stock') => (asked: { source: string; variables: Record<string, unknown> }) => stage[engine](asked.source, asked.variables)
  const cause = await causeOf({ source, variables }, [expected, stock], run('whole'), run('stock'), stage.supergraphSdl)
  expect(cause, `the stock gateway differs for a reason that stands on no list: ${context}\n${stock.text}\n${expected.text}`).not.toBe(null)
  stockErrors.set(cause!, (stockErrors.get(cause!) ?? 0) + 1)
}

/** Compares the merged payloads with the undeferred answer, for fragments that are deferred at random. */
async function compareDeferred(stage: Stage, source: string, variables: Record<string, unknown>, choices: readonly number[]): Promise<void> {
  let at = 0
  const deferred = deferRandomly(source, stage.schema, below => (choices[at++ % choices.length]! + at) % below, true)
  const plain = undeferred(deferred)
  if (validate(stage.schema, parse(plain)).length > 0) return
  stage.logged()
  const whole = await stage.embedded(plain, variables)
  if (stage.logged().some(line => refusedByPlanner.test(String(line.err)))) return
  for (const form of ['v0.2', '20220824'] as const) {
    const payloads = await stage.deferred(deferred, variables, form)
    const context = `${form}: ${deferred}\n${JSON.stringify(variables)}\nfailing: ${[...stage.faults]}\n${payloads.map(each => JSON.stringify(each)).join('\n')}\n${whole.text}`
    const merged = mergedOr(payloads, context)
    expect(differs(merged.data, whole.data, merged.failed), context).toBeNull()
    if (merged.failed.length === 0) expect(comparableErrors(merged.errors, whole.data), context).toEqual(comparableErrors(whole.errors, whole.data))
    if (payloads.length > 1) coverage.directives.defer += 1
  }
}

describe('random operations answer the same text, key order and errors in one schema, in process, over HTTP and at the stock gateway', () => {
  const share = Math.ceil(operations / Object.keys(graphs).length)
  test.each(Object.keys(graphs))('%s', { timeout: 600_000 }, async name => {
    const graph = graphs[name]!
    await using stage = await openStage(graph)
    const kinds = stage.schema.getMutationType() ? (['mutation', 'mutation', 'query'] as const) : (['query'] as const)
    let turn = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 27_720 }), { minLength: 150, maxLength: 600 }),
        fc.nat({ max: 2 }),
        fc.nat({ max: 3 }),
        fc.nat(),
        async (choices, kind, fails, which) => {
          const { source, variables, fields } = generateOperation({ schema: stage.schema, values: graph.values, kind: kinds[kind % kinds.length]! }, choices)
          fc.pre(validate(stage.schema, parse(source)).length === 0)
          stage.faults.clear()
          const candidates = [...fields].filter(stage.mayFail)
          if (fails === 0 && candidates.length > 0) stage.faults.add(candidates[which % candidates.length]!)
          await compare(name, stage, source, variables, turn++)
          await compareDeferred(stage, source, variables, choices)
        },
      ),
      { seed, numRuns: share, endOnFailure: !process.env.SHRINK },
    )
    expect(turn).toBeGreaterThanOrEqual(share)
  })
})

test('random subscriptions yield the same events in one schema, in process and over WebSocket', { timeout: 300_000 }, async () => {
  await using stage = await openStage(feed)
  const share = Math.ceil(operations / 10)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 27_720 }), { minLength: 40, maxLength: 300 }), fc.nat(), async (choices, which) => {
      const { source, variables, fields } = generateOperation({ schema: stage.schema, values: feed.values, kind: 'subscription' }, choices)
      fc.pre(validate(stage.schema, parse(source)).length === 0)
      const plans = await stage.plan(source, variables)
      // A subscription that conditions remove cannot start.
      fc.pre(plans.length > 0)
      stage.faults.clear()
      const candidates = [...fields].filter(stage.mayFail)
      if (which % 4 === 0 && candidates.length > 0) stage.faults.add(candidates[which % candidates.length]!)
      const expected = await stage.stream('whole', source, variables)
      const hasErrors = expected.some(({ errors }) => errors)
      count(coverage, source, plans, hasErrors)
      const context = `${source}\n${JSON.stringify(variables)}\nfailing: ${[...stage.faults]}`
      for (const engine of ['embedded', 'remote'] as const)
        expect(
          (await stage.stream(engine, source, variables)).map(answer => comparable(answer)),
          `${engine}: ${context}`,
        ).toEqual(expected.map(answer => comparable(answer)))
    }),
    { seed, numRuns: share, endOnFailure: !process.env.SHRINK },
  )
})

afterAll(() => {
  const causes = [...stockErrors].sort((a, b) => b[1] - a[1]).map(([cause, times]) => `${times} × ${cause}`)
  console.log(`differential: seed ${seed}, ${JSON.stringify(coverage)}\nthe stock gateway was wrong:\n  ${causes.join('\n  ')}`)
})

test('these operations exercised every kind of node that a folded query plan has, both directives, three subgraphs and errors', () => {
  const { nodes, directives, unplanned, operations: compared } = coverage
  expect(compared).toBeGreaterThanOrEqual(operations * 0.9)
  for (const kind of ['Fetch', 'BatchFetch', 'Flatten', 'Sequence', 'Parallel', 'Subscription']) expect(nodes[kind] ?? 0, kind).toBeGreaterThan(compared / 20)
  expect(directives.skip).toBeGreaterThan(compared / 2)
  expect(directives.include).toBeGreaterThan(compared / 2)
  expect(directives.defer).toBeGreaterThan(compared / 2)
  expect(coverage.threeSubgraphs).toBeGreaterThan(compared / 2)
  expect(coverage.errors).toBeGreaterThan(compared / 5)
  expect(unplanned).toBeLessThan(compared / 50)
})
