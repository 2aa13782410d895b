import fc from 'fast-check'
import { type GraphQLSchema, getNamedType, getNullableType, isLeafType, isListType, isObjectType, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { ownSupergraph } from '../../router/start/engine.ts'
import { generateOperation } from '../differential/operation.ts'
import { platformWorld } from '../differential/platform-world.ts'
import { answerOf } from '../engine/supergraph-fixture.ts'
import { crowd } from '../kit/crowd.ts'
import { supergraph } from '../kit/supergraph.ts'

const operations = Number(process.env.COST_OPERATIONS ?? 200)
const seed = Number(process.env.SEED ?? 20_261_122)

/** Objects of an answer, and elements of its lists of leaves, which all weigh 1. */
function countIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + (item !== null && typeof item !== 'object' ? 1 : countIn(item)), 0)
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, inner) => sum + countIn(inner), 1)
}

/** Names of fields that weigh more than their values count: those with a weight of their own, and JSON, which may hold objects that count as nothing. */
function weighty(schema: GraphQLSchema): ReadonlySet<string> {
  const { costs } = ownSupergraph()
  const names = new Set<string>()
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    for (const { name, type: result } of Object.values(type.getFields())) {
      const inner = getNamedType(result)
      const isList = isListType(getNullableType(result))
      const usual = isLeafType(inner) && !isList ? 0 : 1
      const weight = costs.fields.get(`${type.name}.${name}`) ?? costs.types.get(inner.name) ?? usual
      if (weight !== usual || inner.name === 'JSON') names.add(name)
    }
  }
  return names
}

test('no random operation costs more than estimated, and its actual cost is that of its answer', { timeout: 300_000 }, async () => {
  await using graph = await supergraph({ sandbox: true })
  const { viewers, values } = await platformWorld(graph)
  await crowd(graph.database.sequelize, viewers[0]!.organizationId!, { members: 30, brands: 25, posts: 120 })
  const { engine } = graph.platform
  const costly = new RegExp(`\\b(?:__schema|__type|${[...weighty(engine.schema)].join('|')})\\b`)
  const counted = { answered: 0, exact: 0, costly: 0, tooExpensive: 0, nearly: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 27_720 }), { minLength: 60, maxLength: 300 }), fc.nat({ max: viewers.length - 1 }), async (choices, who) => {
      const { source, variables } = generateOperation({ schema: engine.schema, values, mostFields: 40 }, choices)
      fc.pre(validate(engine.schema, parse(source)).length === 0)
      const request = { document: parse(source), variables, viewer: viewers[who]!, requestId: 'request-1', headers: new Headers({ 'x-graphql-cost': 'show' }) }
      const { data, errors, extensions } = answerOf(await engine.execute(request))
      const context = `${source}\n${JSON.stringify(variables)}\nas ${viewers[who]!.kind} ${viewers[who]!.roles}`
      const refusal = errors?.find(error => error.extensions?.code === 'OPERATION_TOO_EXPENSIVE')
      if (refusal) {
        const { estimated, max } = refusal.extensions!.cost as { estimated: number; max: number }
        expect(estimated, context).toBeGreaterThan(max)
        counted.tooExpensive++
        return
      }
      // Invalid variables are refused before the cost is estimated.
      if (data === undefined) return
      const { estimated, actual, max } = extensions!.cost as { estimated: number; actual: number; max: number }
      counted.answered++
      if (actual > 20) counted.costly++
      if (actual > estimated / 4) counted.nearly++
      expect(actual, context).toBeLessThanOrEqual(estimated)
      expect(estimated, context).toBeLessThanOrEqual(max)
      // These fields weigh more than the values that they answer with.
      if (costly.test(source)) return
      counted.exact++
      expect(actual, context).toBe(data === null ? 0 : countIn(data) - 1)
    }),
    { seed, numRuns: operations, endOnFailure: !process.env.SHRINK },
  )
  console.log(`cost: seed ${seed}, ${JSON.stringify(counted)}`)
  expect(counted.answered).toBeGreaterThan(operations / 2)
  expect(counted.exact).toBeGreaterThan(operations / 10)
  expect(counted.costly).toBeGreaterThan(operations / 100)
})
