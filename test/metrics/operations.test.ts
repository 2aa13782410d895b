import { parse, print } from 'graphql'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { type Cause, doFor } from '../../platform/caller/cause.ts'
import type { Engine, OperationRequest } from '../../router/engine/engine.ts'
import { createNames } from '../../router/metrics/names.ts'
import { measureOperations, productOf } from '../../router/metrics/operations.ts'
import { createAsk } from '../../router/within/ask.ts'
import { anonymous } from '../../subgraphs/viewer.ts'
import { mode } from '../kit/assembled.ts'
import { openDoor } from '../kit/door.ts'
import { until } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'
import { duePost } from '../subgraphs/publishing/delivery/delivering.ts'

const headers = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1.2' }

describe('S-11 metrics of operations', () => {
  test('count HTTP, REST and services’ operations by name, type, client and outcome, with their fetches, plans and errors', async () => {
    await using graph = await supergraph()
    const { owner } = await graph.seed.owner().brand().post()
    await using door = await openDoor(graph, { counts: true })
    const post = (query: string) => door.ask('POST', '/graphql', { headers, body: { query } })
    for (let time = 0; time < 3; time++) await post('query WhoAmI { viewer { kind } }')
    await post('query Mine { posts(first: 1) { nodes { id } } }')
    await post('{ nothing }')
    await door.ask('GET', '/publishing/api/posts', { headers: { ...headers, 'x-api-key': 'nonsense' } })
    // The refused operation counts once, as refused.
    await door.ask('GET', '/publishing/api/posts', { headers })
    await door.ask('GET', '/nowhere')
    const registrations = graph.platform.subgraphs.map(({ registration }) => registration)
    const asked = parse('query Asked { publishingWidget { statistics { key } } }') as never
    await createAsk(graph.platform.engine, registrations, async () => true)(asked, {}, { appId: 'app_launcher', viewer: owner })

    const { text } = await door.ask('GET', '/metrics')
    expect(text).toContain('supergraph_operations_total{operation="WhoAmI",type="query",client="web",outcome="success"} 3')
    expect(text).toContain('supergraph_operation_duration_seconds_count{operation="WhoAmI",type="query",client="web",outcome="success"} 3')
    expect(text).toMatch(/supergraph_operations_total\{operation="Mine",type="query",client="web",outcome="(refused|partial)"\} 1/)
    expect(text).toContain('supergraph_operations_total{operation="Asked",type="query",client="app_launcher",outcome="success"} 1')
    expect(text).toContain('supergraph_errors_total{code="GRAPHQL_VALIDATION_FAILED"} 1')
    expect(text).toContain('supergraph_errors_total{code="UNAUTHENTICATED"} 1')
    expect(text).toContain('supergraph_errors_total{code="NOT_FOUND"} 1')
    expect(text).toMatch(/supergraph_errors_total\{code="UNAUTHORIZED_FIELD_OR_TYPE"\} 2$/m)
    expect(text).toMatch(/supergraph_fetch_duration_seconds_bucket\{le="30",subgraph="identity"\} [1-9]/)
    expect(text).toMatch(/^supergraph_planning_duration_seconds_count [1-9]/m)
    expect(text).toContain('# TYPE supergraph_plan_cache_hits counter')
    expect(Number(/^supergraph_plan_cache_hits (\d+)$/m.exec(text)?.[1])).toBeGreaterThanOrEqual(2)
    expect(text).toMatch(/^supergraph_plan_cache_misses [1-9]/m)
    expect(text).toMatch(/^supergraph_plan_cache_size [1-9]/m)
  })

  test('the log line names the operation, its errors by code, the caller and the client', async () => {
    await using graph = await supergraph()
    await using door = await openDoor(graph)
    await door.ask('POST', '/graphql', {
      headers,
      body: { query: 'query Mine($secret: Int) { posts(first: $secret) { nodes { id } } }', variables: { secret: 31 } },
    })
    const line = graph.log.map(each => JSON.parse(each)).findLast(({ msg, route }) => msg === 'answered' && route === '/graphql')
    expect(line).toMatchObject({ operation: 'Mine', client: 'web@1.2', errors: { UNAUTHORIZED_FIELD_OR_TYPE: 1 }, ms: expect.any(Number) })
    expect(JSON.stringify(line)).not.toContain('31,')
  })

  test('a request’s log line names the client’s operation, not one that a service called within it', async () => {
    const cause: Cause = { requestId: 'r' }
    const request = (name: string) => ({ document: parse(`query ${name} { a }`), viewer: anonymous, requestId: 'r' })
    const engine: Pick<Engine, 'execute'> = measureOperations(new Registry()).watchEngine({
      async execute({ document }: OperationRequest) {
        const isOuter = print(document).includes('Outer')
        if (isOuter) await engine.execute(request('Inner'))
        return isOuter ? { data: {} } : { data: null, errors: [{ message: '', extensions: { code: 'FORBIDDEN' } }] }
      },
    } as never)
    await doFor(cause, () => engine.execute(request('Outer')))
    expect(cause).toEqual({ requestId: 'r', operation: 'Outer' })
  })

  test('operation names of callers are bounded: above five hundred they become other', async () => {
    const registry = new Registry()
    const figures = measureOperations(registry)
    const engine = figures.watchEngine({ execute: async () => ({ data: {} }) } as never)
    for (let number = 0; number < 600; number++) {
      const document = parse(`query Name${number} { a }`)
      await doFor({ client: `client${number}@1` }, () => engine.execute({ document, viewer: anonymous, requestId: 'r' }))
    }
    const { values } = (await registry.getSingleMetric('supergraph_operations_total')!.get()) as { values: { labels: Record<string, string>; value: number }[] }
    expect(new Set(values.map(({ labels }) => labels.operation)).size).toBe(501)
    expect(new Set(values.map(({ labels }) => labels.client)).size).toBe(101)
    expect(values.reduce((sum, { labels, value }) => sum + (labels.operation === 'other' ? value : 0), 0)).toBe(100)
  })

  test('so are their combinations', async () => {
    const registry = new Registry()
    const engine = measureOperations(registry).watchEngine({ execute: async () => ({ data: {} }) } as never)
    for (let name = 0; name < 70; name++)
      for (let client = 0; client < 70; client++)
        await doFor({ client: `client${client}@1` }, () => engine.execute({ document: parse(`query N${name} { a }`), viewer: anonymous, requestId: 'r' }))
    const { values } = (await registry.getSingleMetric('supergraph_operations_total')!.get()) as { values: { value: number }[] }
    expect(values.length).toBe(3001)
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(4900)
  })

  test('counts failed, refused and partial operations separately', async () => {
    const registry = new Registry()
    const error = (code: string) => ({ message: '', extensions: { code } })
    const answers = [
      { data: null, errors: [error('FORBIDDEN')] },
      { data: { a: null }, errors: [error('UPSTREAM_FAILED')] },
      { data: null, errors: [error('MADE_UP_BY_SOMEBODY')] },
    ]
    const engine = measureOperations(registry).watchEngine({
      async execute() {
        const next = answers.shift()
        if (next) return next
        throw new Error('broken')
      },
    } as never)
    const document = parse('{ a }')
    for (let time = 0; time < 4; time++) await engine.execute({ document, viewer: anonymous, requestId: 'r' }).catch(() => {})
    const text = await registry.metrics()
    expect(text).toContain('outcome="refused"} 1')
    expect(text).toContain('outcome="partial"} 1')
    expect(text).toContain('outcome="failed"} 2')
    expect(text).toContain('supergraph_errors_total{code="INTERNAL_SERVER_ERROR"} 1')
    expect(text).not.toContain('MADE_UP')
  })

  test('count a rejected subscription as such, and the errors of its start and its events', async () => {
    const registry = new Registry()
    const refused = (code: string) => ({ data: null, errors: [{ message: '', extensions: { code } }] })
    const stream = {
      next: async () => ({ value: { answer: refused('CONFLICT'), about: null }, done: false }),
      return: async () => ({ value: undefined, done: true }),
      isLost: () => false,
    }
    const prepared = [refused('FORBIDDEN'), ...[refused('NOT_FOUND'), stream].map(started => ({ key: '', operationName: null, start: async () => started }))]
    const engine = measureOperations(registry).watchEngine({ prepareStream: async () => prepared.shift() } as never)
    const prepare = () => engine.prepareStream({ document: parse('subscription S { a }'), viewer: anonymous, requestId: 'r' })
    await prepare()
    for (let time = 0; time < 2; time++) {
      const subscription = await prepare()
      const started = 'start' in subscription ? await subscription.start(new AbortController().signal) : null
      if (started && 'isLost' in started) await started.next()
    }
    const text = await registry.metrics()
    expect(text).toContain('supergraph_operations_total{operation="S",type="subscription",client="unknown",outcome="refused"} 1')
    expect(text).toContain('supergraph_operations_total{operation="S",type="subscription",client="unknown",outcome="success"} 2')
    for (const code of ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT']) expect(text).toContain(`supergraph_errors_total{code="${code}"} 1`)
  })

  test.each([
    ['web@1.2', 'web'],
    ['@acme/web@1.2', '@acme/web'],
    ['My shop', 'My shop'],
    ['curl/8.5.0', 'curl'],
    ['Mozilla/5.0 (X11; Linux; mail@example.com)', 'Mozilla'],
    [undefined, 'unknown'],
  ])('the client %s is known as %s', (client, product) => expect(productOf(client)).toBe(product))

  test('keep a known name, and never use a very long one', () => {
    const names = createNames(1)
    expect(['a', 'b', 'a'].map(names)).toEqual(['a', 'other', 'a'])
    // An operation name of ninety thousand characters would be repeated in every line of a histogram.
    expect(['a'.repeat(100), 'a'.repeat(101)].map(createNames(500))).toEqual(['a'.repeat(100), 'other'])
  })
})

describe('S-11 metrics of publishing', () => {
  test('count a published post with its lateness, and waiting jobs', async () => {
    const world = await duePost()
    await using graph = world.graph
    const before = await graph.metrics.metrics()
    expect(before).toContain('publishing_deliveries_total{network="X",outcome="published"} 0')
    expect(before).toContain('publishing_delivery_lateness_seconds_count{network="X"} 0')
    expect(before).toMatch(/supergraph_jobs\{subgraph="publishing",queue="[\w.-]+",state="created"\} \d/)
    await until('it is published', async () => {
      await graph.clock.run(1_500)
      return (await world.read()).status === 'PUBLISHED'
    })
    const after = await graph.metrics.metrics()
    expect(after).toContain('publishing_deliveries_total{network="X",outcome="published"} 1')
    expect(after).toContain('publishing_delivery_lateness_seconds_count{network="X"} 1')
    expect(after).toMatch(/publishing_delivery_lateness_seconds_bucket\{le="60",network="X"\} 1/)
  })

  test('a network that refuses, or that cannot be reached, is seen', async () => {
    const world = await duePost()
    await using graph = world.graph
    await graph.x.arm({ fault: 'status', status: 403 })
    await until('it has failed', async () => {
      await graph.clock.run(1_500)
      return (await world.read()).status === 'FAILED'
    })
    expect(await graph.metrics.metrics()).toContain('publishing_deliveries_total{network="X",outcome="refused"} 1')
  })

  test.skipIf(mode === 'apart')('reading again within ten seconds costs no statement', async () => {
    await using graph = await supergraph()
    await graph.metrics.metrics()
    expect(await graph.statements(() => graph.metrics.metrics())).toEqual([])
    await graph.clock.run(10_000)
    // One for each subgraph that has queues: publishing, identity and providers.
    expect((await graph.statements(() => graph.metrics.metrics())).filter(text => text.includes('_jobs.job'))).toHaveLength(3)
  })
})
