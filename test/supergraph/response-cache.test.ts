import fc from 'fast-check'
import { parse, validate } from 'graphql'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createCarriedEvents } from '../../carriers/events.ts'
import { createNotifyCarrier } from '../../carriers/notify.ts'
import { readConfig } from '../../config.ts'
import { createOpenPool } from '../../db/connect.ts'
import { newId } from '../../platform/ids.ts'
import { caching, type Engine } from '../../router/engine/engine.ts'
import { createEmbeddedTransport } from '../../router/engine/transport/embedded.ts'
import { openEngineOver, ownSupergraph } from '../../router/start/engine.ts'
import { openResponseCache, responseCacheOf } from '../../router/start/process/cache/response-cache.ts'
import { anonymous, type Viewer } from '../../subgraphs/viewer.ts'
import { until } from '../kit/launch.ts'
import { hasRedis, noRedis, redisServer } from '../kit/redis.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { tcpProxy } from '../kit/tcp-proxy.ts'
import { person } from '../kit/viewers.ts'

const log = pino({ level: 'silent' })

/** One more router before the subgraphs of a graph, with a response cache, which hears of changes by NOTIFY alone. */
async function openRouter(graph: Supergraph, stack: AsyncDisposableStack, { databaseUrl = graph.database.url, store = 'memory' } = {}) {
  const metrics = new Registry()
  const carrier = createNotifyCarrier({ openPool: createOpenPool({ url: databaseUrl, log }), log })
  const events = createCarriedEvents({ carrier, log })
  stack.defer(() => events.stop())
  const settings = { ...readConfig({}), environment: 'production' as const }
  const responseCache = { ...settings.responseCache, store }
  openResponseCache(responseCache, { metrics, log, stack }, events)
  const transport = createEmbeddedTransport(new Map(graph.platform.subgraphs.map(subgraph => [subgraph.registration.slug, subgraph])))
  const engine: Engine = await openEngineOver(ownSupergraph(), transport, { ...settings, responseCache }, { log, metrics }, stack)
  const cache = responseCacheOf(metrics)!
  await until('the router hears events', () => cache.isCurrent())
  return {
    events,
    cache,
    async ask(source: string, as: Viewer, variables: Record<string, unknown> = {}) {
      const document = parse(source)
      expect(validate(engine.schema, document)).toEqual([])
      const result = await engine.execute({ document, variables, viewer: as, requestId: newId() })
      expect(result.errors, source).toBeUndefined()
      // biome-ignore lint/suspicious/noExplicitAny: the test knows what it asks
      return { data: JSON.parse(JSON.stringify(result.data)) as any, state: result[caching]?.state }
    },
  }
}

const payload = '{ statistics { key value } }'
const createTask = 'mutation($input: CreateTaskInput!) { createTask(input: $input) { id } }'
const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'
const maintain = 'mutation($input: SetServiceMaintenanceInput!) { setServiceMaintenance(input: $input) { id } }'

const step = fc.record({
  router: fc.nat({ max: 1 }),
  /** Where a change is made: the third is another process, whose changes arrive by events alone. */
  at: fc.nat({ max: 2 }),
  kind: fc.constantFrom('own', 'own', 'widgets', 'widgets', 'service', 'task', 'post', 'maintain'),
  who: fc.nat({ max: 2 }),
})

test.for(['memory', 'a Redis server'])(
  'no answer of two routers with %s is older than the last announced change, and none is of another organization',
  { timeout: 240_000 },
  async (where, { skip }) => {
    if (where !== 'memory' && !hasRedis) return skip(noRedis)
    await using stack = new AsyncDisposableStack()
    const store = where === 'memory' ? where : stack.use(await redisServer()).url
    await using graph = await supergraph({ carrier: 'notify', sandbox: true })
    const { owner, member, outsider, brand } = await graph.seed.owner().member().outsider().brand()
    const admin = person(owner.userId!, owner.organizationId!, ['owner', 'platform_admin'])
    const elsewhere = await graph.execute('mutation { createBrand(input: { name: "Elsewhere" }) { id } }', {}, { as: outsider })
    const brands = [brand.id, brand.id, elsewhere.data().createBrand.id]
    const people = [owner, person(member.userId!, member.organizationId!, ['owner']), outsider]
    const routers = [await openRouter(graph, stack, { store }), await openRouter(graph, stack, { store })] as const
    const service = (await routers[0].ask('{ service(slug: "agents") { id } }', anonymous)).data.service.id
    const states: Record<string, number> = {}
    /** Numbers of the changes by what they change; for each router those that were announced to it. */
    const made: Record<string, number> = {}
    const announced: readonly Record<string, number>[] = [{}, {}]
    const wantedOf = (what: string, who: number) => `${what} ${people[who]!.organizationId}`

    const write = async (what: string, at: number, change: (ask: (source: string, as: Viewer, variables: object) => Promise<unknown>) => Promise<unknown>) => {
      await change(async (source, as, variables) =>
        at < 2 ? routers[at]!.ask(source, as, { ...variables }) : (await graph.execute(source, { ...variables }, { as })).data(),
      )
      made[what] = (made[what] ?? 0) + 1
      if (at < 2) announced[at]![what] = Math.max(announced[at]![what] ?? 0, made[what])
    }
    const between = (value: number, what: string, least: Record<string, number>, most: Record<string, number>) => {
      expect(value, what).toBeGreaterThanOrEqual(least[what] ?? 0)
      expect(value, what).toBeLessThanOrEqual(most[what] ?? 0)
    }
    let [started, moment] = [{} as Record<string, number>, 0]

    const perform = async ({ router, at, kind, who }: { router: number; at: number; kind: string; who: number }) => {
      const as = people[who]!
      if (kind === 'task' || kind === 'post') {
        const what = wantedOf(kind, who)
        started[what] = (started[what] ?? 0) + 1
        if (kind === 'task') return write(what, at, ask => ask(createTask, as, { input: { title: 'To do' } }))
        const scheduledAt = new Date(graph.clock.now().getTime() + 3_600_000).toISOString()
        return write(what, at, ask => ask(createPost, as, { input: { brandId: brands[who], platform: 'X', copy: 'Soon', scheduledAt } }))
      }
      const least = { ...announced[router] }
      const ask = async (source: string, viewer: Viewer) => {
        const { data, state } = await routers[router]!.ask(source, viewer)
        states[state!] = (states[state!] ?? 0) + 1
        return data
      }
      if (kind === 'service') {
        const { service } = await ask('{ service(slug: "agents") { maintenance { message } } }', anonymous)
        return between(Number(service.maintenance?.message ?? 0), 'maintain', least, started)
      }
      const data = await ask(kind === 'own' ? `{ agentsWidget ${payload} publishingWidget ${payload} }` : `{ widgets { app payload ${payload} } }`, as)
      const of = (app: string) => (kind === 'own' ? data[`${app}Widget`] : data.widgets.find((each: { app: string }) => each.app === app).payload).statistics
      const value = (app: string, wanted: string) => of(app).find((each: { key: string }) => each.key === wanted).value
      between(value('agents', 'pendingTasks'), wantedOf('task', who), least, started)
      between(value('publishing', 'scheduledToday'), wantedOf('post', who), least, started)
    }
    const maintainOnce = (at: number) => {
      moment += 1
      const until = new Date(graph.clock.now().getTime() + 86_400_000).toISOString()
      started.maintain = moment
      return write('maintain', at, ask => ask(maintain, admin, { input: { serviceId: service, until, message: String(moment) } }))
    }
    /** Waits until each router has heard all that any process has announced. */
    const inStep = async () => {
      const topic = `step ${newId()}`
      const senders = [...graph.events, ...routers.map(({ events }) => events)]
      const streams = routers.map(({ events }) => events.listen([topic]))
      for (const [from, each] of senders.entries()) each.announce(topic, { from: String(from) })
      for (const stream of streams) {
        for (let count = 0; count < senders.length; count++) await stream.next()
        await stream.return()
      }
      for (const each of announced) Object.assign(each, made)
    }

    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 4, maxLength: 10 }), async waves => {
        for (const wave of waves) {
          // One maintenance at a time, for its message is what is read.
          const wanted = wave.find(({ kind }) => kind === 'maintain')
          await Promise.all([...wave.filter(({ kind }) => kind !== 'maintain').map(perform), ...(wanted ? [maintainOnce(wanted.at)] : [])])
          await inStep()
          started = { ...made }
        }
      }),
      { seed: Number(process.env.SEED ?? 20_261_128), numRuns: Number(process.env.RUNS ?? 25), endOnFailure: true },
    )
    console.log(states, made)
    for (const state of ['hit', 'miss']) expect(states[state]).toBeGreaterThan(20)
  },
)

test('a router that does not hear events uses nothing of its cache, and drops it when it hears again', { timeout: 60_000 }, async () => {
  await using stack = new AsyncDisposableStack()
  await using graph = await supergraph({ carrier: 'notify' })
  await using proxy = await tcpProxy(graph.database.url)
  const { owner } = await graph.seed.owner()
  const { ask, cache } = await openRouter(graph, stack, { databaseUrl: proxy.url })
  const widget = `{ agentsWidget ${payload} }`
  const tasks = async () => (await ask(widget, owner)).data.agentsWidget.statistics.find((each: { key: string }) => each.key === 'pendingTasks').value
  await until('it keeps the widget', async () => (await ask(widget, owner)).state === 'hit')
  proxy.silence()
  await graph.execute(createTask, { input: { title: 'Unheard' } }, { as: owner })
  await expect.poll(tasks, { timeout: 1500, interval: 20 }).toBe(1)
  expect((await ask(widget, owner)).state).toBe('bypass')
  await until('it hears again', () => cache.isCurrent(), 40)
  expect(await tasks()).toBe(1)
  expect(cache.figures().drops.get('missed')).toBeGreaterThan(0)
})
