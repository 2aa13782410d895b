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
import { supergraph as openPlatform, type Supergraph } from '../kit/supergraph.ts'
import { anonymous, key } from '../kit/viewers.ts'
import { seedProfile } from '../subgraphs/agents/person-profile/seed.ts'
import { seedOrder } from '../subgraphs/payments/order/seed.ts'
import { seedCredential } from '../subgraphs/providers/credential/seed.ts'
import { causeOf, type StockError } from './known.ts'
import { generateOperation } from './operation.ts'
import { platformOracle } from './platform-oracle.ts'

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

async function world(graph: Supergraph) {
  const { owner, member, viewer, outsider, organization, brand, thread } = await graph.seed
    .owner()
    .member()
    .viewer()
    .outsider()
    .brand()
    .connection()
    .thread(3, { scheduledAt: graph.clock.in(3_600_000) })
  const reader = key(organization.id, ['publishing:posts.read'])
  const { id: organizationId } = organization
  const order = await seedOrder(graph, { organizationId, userId: member.userId })
  const profile = await seedProfile(graph, { organizationId, subjectId: member.userId! })
  const credential = await seedCredential(graph, { organizationId })
  const ids = [
    brand.id,
    order.id,
    ...Object.values(profile),
    credential.id,
    ...thread.map(({ id }) => id),
    owner.userId,
    organizationId,
    '01990000-0000-7000-8000-00000000dead',
    'no id',
  ]
  const moments = [graph.clock.in(0), graph.clock.in(86_400_000)].map(date => new Date(date).toISOString())
  return {
    viewers: [owner, owner, member, viewer, outsider, reader, anonymous] as readonly Viewer[],
    values: {
      id: ids,
      brandId: [brand.id, null, 'no id'],
      threadId: [thread[0]!.threadId, null],
      authorId: [owner.userId, member.userId, null],
      first: [1, 2, 20, 100, 0],
      status: [null, 'DRAFT', 'SCHEDULED', 'PUBLISHED', 'PAID', 'ACTIVE'],
      platform: [null, 'X'],
      userId: [member.userId, owner.userId, null],
      subjectId: [member.userId, null],
      provider: [null, 'custom', 'openai'],
      scheduledAfter: moments,
      scheduledBefore: moments,
    },
  }
}

test('random operations on the platform answer the same as one schema over its subgraphs, and at the stock gateway, for every kind of viewer', {
  timeout: 600_000,
}, async () => {
  await using graph = await openPlatform({ sandbox: true })
  const { viewers, values } = await world(graph)
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
