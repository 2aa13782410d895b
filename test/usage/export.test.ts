import { createRequire } from 'node:module'
import { buildSchema, parse } from 'graphql'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { doFor, program } from '../../platform/caller/cause.ts'
import type { Engine } from '../../router/engine/engine.ts'
import { openUsageExport, type UsageExportOptions } from '../../router/metrics/usage/export/export.ts'
import { bucketOf, packed } from '../../router/metrics/usage/export/graphos.ts'
import { exportersOf } from '../../router/start/process/exporters.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { stage } from '../sandbox/stage.ts'

let world: Awaited<ReturnType<typeof stage>>
beforeAll(async () => {
  world = await stage()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  for (const network of ['hive', 'graphos']) await world.arm({ network, fault: 'none' })
})

const sdl =
  'type Query { item(id: ID!): Item shelf(size: Size): [Item!] } type Item { id: ID! name: String } enum Size { S L } type Subscription { ticks: Int }'
const log = pino({ level: 'silent' })
const request = (text: string, variables?: Record<string, unknown>) => ({ document: parse(text), variables, viewer: anonymous, requestId: 'r' })
const as = (name: string, version: string, work: () => unknown) => doFor({ [program]: { name, version } }, work)

/** An engine that answers nothing, or an error for operations whose text has the word. */
const bare = (): Engine => {
  const answer = async ({ document }: { readonly document: { readonly loc?: { readonly source: { readonly body: string } } | undefined } }) =>
    document.loc!.source.body.includes('Failing') ? { data: null, errors: [{ message: 'no' }] } : { data: {} }
  return { schema: buildSchema(sdl), execute: answer, prepareStream: answer, warm: async () => {} } as unknown as Engine
}

async function exporting(options: Partial<UsageExportOptions> = {}) {
  const [stack, metrics] = [new AsyncDisposableStack(), new Registry()]
  const origin = world.sandbox.origin
  const target = `org/project/${Math.random().toString(36).slice(2)}`
  const graphRef = `shop@v${Math.random().toString(36).slice(2)}`
  const watch = openUsageExport(
    {
      hive: { target, token: 'hive-token', endpoint: `${origin}/hive/usage` },
      graphos: { key: 'service:shop:key', graphRef, endpoint: `${origin}/graphos` },
      ...{ everyMs: 1_000_000, sampleRate: 1, pauses: [1, 1], log, metrics },
      ...options,
    },
    stack,
  )!
  // biome-ignore lint/suspicious/noExplicitAny: what collectors get is read as they read it
  const received = async (network: string): Promise<any[]> => (await fetch(`${origin}/_control/received?network=${network}`)).json()
  return {
    engine: watch(bare()),
    stop: () => stack.disposeAsync(),
    hive: async () => (await received('hive')).filter(each => each.target === target).map(({ report }) => report),
    graphos: async () => (await received('graphos')).map(({ report }) => report).filter(({ header }) => header.graphRef === graphRef),
    counts: async () =>
      (await metrics.getSingleMetric('supergraph_usage_exports_total')!.get()).values.map(
        ({ labels, value }) => `${labels.exporter} ${labels.outcome} ${value}`,
      ),
  }
}

describe('reports of usage', () => {
  it('say which client used which operation and fields, how long it took and whether it failed, and hold no literal', async () => {
    const { engine, stop, hive, graphos, counts } = await exporting()
    const one = request('query One { item(id: "swordfish") { name } shelf(size: L) { id } }')
    await as('web', '3.2', () => engine.execute(one))
    await as('web', '3.2', () => engine.execute(one))
    await as('ios', '1.0', () => engine.execute(one))
    await engine.execute(request('query Failing { shelf { id } }'))
    await engine.prepareStream(request('subscription { ticks }'))
    await engine.execute(request('{ __typename }'))
    await stop()
    // biome-ignore lint/suspicious/noExplicitAny: what collectors get is read as they read it
    const [report, ...more] = (await hive()) as any[]
    expect(more).toEqual([])
    expect(report.size).toBe(5)
    const shown = Object.fromEntries(Object.entries<{ operationName: string }>(report.map).map(([key, { operationName }]) => [key, operationName]))
    expect(report.operations.map((each: typeof report) => [shown[each.operationMapKey], each.execution.ok, each.metadata])).toEqual([
      ['One', true, { client: { name: 'web', version: '3.2' } }],
      ['One', true, { client: { name: 'web', version: '3.2' } }],
      ['One', true, { client: { name: 'ios', version: '1.0' } }],
      ['Failing', false, undefined],
    ])
    expect(report.subscriptionOperations).toMatchObject([{ timestamp: expect.any(Number) }])
    const { fields, operation } = Object.values<{ operationName: string; fields: string[]; operation: string }>(report.map).find(
      each => each.operationName === 'One',
    )!
    expect(fields.sort()).toEqual(['Item', 'Item.id', 'Item.name', 'Query', 'Query.item', 'Query.item.id', 'Query.shelf', 'Query.shelf.size', 'Size', 'Size.L'])
    expect(operation).not.toContain('swordfish')

    const [stats, ...others] = await graphos()
    expect([others, stats.operationCount]).toEqual([[], 5])
    expect(JSON.stringify(stats)).not.toContain('swordfish')
    const ofOperation = (name: string) => Object.entries<typeof stats>(stats.tracesPerQuery).find(([each]) => each.startsWith(`# ${name}\n`))!
    const [key, { statsWithContext, referencedFieldsByType }] = ofOperation('One')
    expect(key).toContain('item(id:"")')
    expect(statsWithContext.map((each: typeof stats) => [each.context, each.queryLatencyStats.requestCount])).toEqual([
      [{ clientName: 'web', clientVersion: '3.2' }, 2],
      [{ clientName: 'ios', clientVersion: '1.0' }, 1],
    ])
    expect(referencedFieldsByType).toMatchObject({ Item: { fieldNames: ['name', 'id'] } })
    expect(ofOperation('Failing')[1].statsWithContext[0].queryLatencyStats).toMatchObject({ requestsWithErrorsCount: 1 })
    expect(await counts()).toEqual(['hive sent 1', 'hive dropped 0', 'graphos sent 1', 'graphos dropped 0'])
  })

  it('keep clients apart whose names and versions are one text together, and bound those that callers invent', async () => {
    const { engine, stop, hive, graphos } = await exporting()
    const one = request('query One { shelf { id } }')
    await as('a b', 'c', () => engine.execute(one))
    await as('a', 'b c', () => engine.execute(one))
    for (let count = 0; count < 250; count += 1) await as(`bot ${count}`, '1', () => engine.execute(one))
    await stop()
    const [stats] = await graphos()
    const { statsWithContext } = Object.values<typeof stats>(stats.tracesPerQuery)[0]!
    const names = statsWithContext.map(({ context }: { context: { clientName: string; clientVersion: string } }) => [context.clientName, context.clientVersion])
    expect(names.slice(0, 2)).toEqual([
      ['a b', 'c'],
      ['a', 'b c'],
    ])
    expect([names.length, names.at(-1)]).toEqual([201, ['other', '1']])
    const [report] = await hive()
    expect(new Set(report.operations.map((each: typeof stats) => each.metadata.client.name)).size).toBe(201)
  })

  it('are sent when 1,500 operations are there, before their time', async () => {
    const { engine, stop, hive } = await exporting({ graphos: null })
    for (let count = 0; count < 1_500; count += 1) await engine.execute(request('{ shelf { id } }'))
    await expect.poll(hive, { timeout: 10_000 }).toMatchObject([{ size: 1_500 }])
    await stop()
  })

  it('are sent again where a collector is away, and dropped where it refuses them', async () => {
    const { engine, stop, hive, counts } = await exporting({ everyMs: 20, graphos: null })
    await world.arm({ network: 'hive', fault: 'status', status: 503, times: 2 })
    await engine.execute(request('query Again { shelf { id } }'))
    await expect.poll(hive, { timeout: 10_000 }).toHaveLength(1)
    await world.arm({ network: 'hive', fault: 'status', status: 400, times: 1 })
    await engine.execute(request('query Refused { shelf { id } }'))
    await expect.poll(counts, { timeout: 10_000 }).toEqual(['hive sent 1', 'hive dropped 1'])
    await world.arm({ network: 'hive', fault: 'status', status: 503, times: 3 })
    await engine.execute(request('query Away { shelf { id } }'))
    await expect.poll(counts, { timeout: 10_000 }).toEqual(['hive sent 1', 'hive dropped 2'])
    await stop()
  })

  it('count the share of operations that is set', async () => {
    const numbers = [0.2, 0.3, 0.1, 0.9]
    const { engine, stop, hive } = await exporting({ graphos: null, sampleRate: 0.25, random: () => numbers.shift()! })
    for (let count = 0; count < 4; count += 1) await engine.execute(request('{ shelf { id } }'))
    await stop()
    expect(await hive()).toMatchObject([{ size: 2 }])
  })
})

it('histograms of durations are those of Apollo Server', () => {
  // Apollo Server does not export it.
  const { DurationHistogram } = createRequire(import.meta.url)('../../node_modules/@apollo/server/dist/cjs/plugin/usageReporting/durationHistogram.js')
  const counts: number[] = []
  const theirs = new DurationHistogram()
  for (const ms of [0, 0.0005, 0.001, 0.0011, 0.3, 0.31, 1, 7, 7.5, 100, 5_000, 60_000, 1e15]) {
    expect(bucketOf(ms), `${ms}`).toBe(DurationHistogram.durationToBucket(ms * 1e6))
    theirs.incrementDuration(ms * 1e6)
    const bucket = bucketOf(ms)
    while (counts.length <= bucket) counts.push(0)
    counts[bucket]! += 1
  }
  expect(packed(counts)).toEqual(theirs.toArray())
})

it.each([
  ['HIVE_ACCESS_TOKEN', { HIVE_TARGET: 'org/project/target' }],
  ['HIVE_TARGET', { HIVE_ACCESS_TOKEN: 'hive-token' }],
])('half of the settings for Hive stops the start and names %s', (missing, environment) => {
  expect(() => exportersOf(readConfig(environment))).toThrow(`${missing}: missing`)
})
