import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { createAccessFilter } from '../../router/access/filter.ts'
import { openApolloEngine } from '../../router/engine/apollo/stock.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { readSupergraph } from '../../router/engine/supergraph.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Answer, answerOf } from '../engine/supergraph-fixture.ts'
import { supergraph as openPlatform } from '../kit/supergraph.ts'
import { causeOf, type StockError } from './known.ts'
import { generateOperation } from './operation.ts'
import { platformOracle } from './platform-oracle.ts'
import { platformWorld } from './platform-world.ts'

const operations = Math.ceil(Number(process.env.DIFFERENTIAL_OPERATIONS ?? 280) / 7)
const seed = Number(process.env.SEED ?? 20_261_123)

/** What an answer tells: text, and the places of errors without indexes, for refusals of access have none. */
function comparable({ text, errors = [] }: Answer) {
  const refusedCodes = ['UNAUTHORIZED_FIELD_OR_TYPE', 'FORBIDDEN']
  const places = (refused: boolean) => {
    const wanted = errors.filter(error => refusedCodes.includes(String(error.extensions?.code)) === refused)
    return [...new Set(wanted.map(({ path = [] }) => path.filter(part => typeof part === 'string').join('.')))].sort()
  }
  return { text, failed: places(false), refused: places(true) }
}

/** A refused place is told although its list is empty, which one schema does not come to know. */
function alike(expected: Answer, actual: Answer): boolean {
  const [left, right] = [comparable(expected), comparable(actual)]
  return left.text === right.text && left.failed.join() === right.failed.join() && left.refused.every(place => right.refused.includes(place))
}

test('random operations on the platform answer the same as one schema over its subgraphs, and as the stock gateway, for every kind of viewer', {
  timeout: 600_000,
}, async () => {
  await using graph = await openPlatform({ sandbox: true })
  const { viewers, values } = await platformWorld(graph)
  const { engine, subgraphs } = graph.platform
  const supergraph = readSupergraph(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  const oracle = platformOracle(engine.schema, subgraphs)
  const quiet = { error() {}, warn() {} }
  const transport = createEmbeddedTransport(new Map(subgraphs.map(subgraph => [subgraph.registration.slug as string, subgraph])))
  const stock = await openApolloEngine({ supergraphSdl: supergraph, transport, access: createAccessFilter(supergraph.access), log: quiet })
  const run = async (by: Engine, source: string, variables: Record<string, unknown>, viewer: Viewer) =>
    answerOf(await by.execute({ document: parse(source), variables, viewer, requestId: 'request-1' }))
  const counted = { operations: 0, refused: 0, failed: 0 }
  const stockErrors = new Map<StockError, number>()

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 27_720 }), { minLength: 60, maxLength: 300 }), fc.nat({ max: viewers.length - 1 }), async (choices, who) => {
      const { source, variables } = generateOperation({ schema: engine.schema, values, mostFields: 40 }, choices)
      fc.pre(validate(engine.schema, parse(source)).length === 0)
      const viewer = viewers[who]!
      const whole = async (asked: { source: string; variables: Record<string, unknown> }) => answerOf(await oracle.run(asked.source, asked.variables, viewer))
      const expected = await whole({ source, variables })
      const actual = await run(engine, source, variables, viewer)
      // Skips operations that cost too much: the reference executor has no cost limit.
      fc.pre(!actual.errors?.some(({ extensions }) => extensions?.code === 'OPERATION_TOO_EXPENSIVE'))
      counted.operations++
      if (comparable(actual).refused.length > 0) counted.refused++
      if (comparable(actual).failed.length > 0) counted.failed++
      const context = `${source}\n${JSON.stringify(variables)}\nas ${viewer.kind} ${viewer.roles}\n${JSON.stringify(actual.errors)}\n${JSON.stringify(expected.errors)}`
      expect(actual.text, context).toBe(expected.text)
      expect(comparable(actual).failed, context).toEqual(comparable(expected).failed)
      expect(alike(expected, actual), context).toBe(true)

      const asked = await run(stock, source, variables, viewer)
      if (alike(expected, asked)) return
      const ask = (other: { source: string; variables: Record<string, unknown> }) => run(stock, other.source, other.variables, viewer)
      const cause = await causeOf({ source, variables }, [expected, asked], whole, ask, supergraph.sdl, alike)
      expect(cause, `the stock gateway differs for a reason that stands on no list: ${context}\n${asked.text}\n${JSON.stringify(asked.errors)}`).not.toBe(null)
      stockErrors.set(cause!, (stockErrors.get(cause!) ?? 0) + 1)
    }),
    { seed, numRuns: operations, endOnFailure: !process.env.SHRINK },
  )
  console.log(`differential, platform: seed ${seed}, ${JSON.stringify(counted)}, the stock gateway was wrong: ${JSON.stringify([...stockErrors])}`)
  expect(counted.operations).toBeGreaterThanOrEqual(operations)
  expect(counted.refused).toBeGreaterThan(operations / 20)
  expect(counted.failed).toBeGreaterThan(operations / 10)
})
