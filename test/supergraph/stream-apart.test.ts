import { randomBytes } from 'node:crypto'
import { parse } from 'graphql'
import { afterEach, expect, test, vi } from 'vitest'
import { createOpenPool } from '../../db/connect.ts'
import { createOpenJobs } from '../../platform/jobs/jobs.ts'
import { createCallersWay } from '../../platform/outbound/callers.ts'
import { createRemoteAsk, rememberSeals, serveAsk } from '../../router/apart/ask.ts'
import { serveSubgraph } from '../../router/apart/server.ts'
import { createDocuments } from '../../router/door/documents/documents.ts'
import type { Fetch, ResultStream } from '../../router/engine/engine.ts'
import { createRemoteTransport } from '../../router/engine/transport/remote.ts'
import { createSeal, publicHalf } from '../../router/engine/transport/seal.ts'
import { Work } from '../../router/engine/work.ts'
import { createRouter } from '../../router/router.ts'
import { define } from '../../subgraphs/launcher/definition.ts'
import { createSealReader } from '../../subgraphs/seal.ts'
import type { Foundation } from '../../subgraphs/subgraph.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { freePort } from '../kit/launch.ts'
import { supergraph } from '../kit/supergraph.ts'

const text = 'subscription { widgetUpdated { app payload { statistics { key value } } } }'
const widgets: Fetch = { subgraph: 'launcher', document: parse(text), text, kind: 'subscription' }
const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id } }'

const opened: AsyncDisposableStack[] = []
afterEach(async () => {
  for (const stack of opened.splice(0)) await stack.disposeAsync()
})

/** The launcher apart, before a router whose every other service is in its process; all read one clock, which the test moves. */
async function launcherApart() {
  const open = new AsyncDisposableStack()
  opened.push(open)
  const graph = open.use(await supergraph({ sandbox: true }))
  const { clock, platform, job } = graph
  const key = { id: 'test', key: randomBytes(32) }
  const keys = [publicHalf(key)]
  const seal = createSeal(key, clock)
  const port = await freePort()
  const router = await createRouter({
    engine: platform.engine,
    authority: platform.identity.authority,
    subgraphs: platform.subgraphs,
    host: 'localhost',
    port,
    publicUrl: `http://localhost:${port}`,
    environment: 'development',
    clock,
    log: job.log,
    readiness: [],
    extend(app) {
      const registrations = platform.subgraphs.map(each => each.registration)
      serveAsk(app, {
        engine: platform.engine,
        authority: platform.identity.authority,
        documents: createDocuments(platform.engine.schema, { introspection: false }),
        registrations,
        keys,
        clock,
      })
    },
  })
  await router.listen()
  open.defer(() => router.close())

  const seals = rememberSeals(createSealReader({ audience: 'launcher', keys, clock }))
  const openJobs = createOpenJobs({ openPool: createOpenPool({ url: graph.database.url, log: job.log }), clock: clock.jobs })
  const foundation = {
    ask: createRemoteAsk([`http://localhost:${port}`], seals),
    sequelize: graph.database.sequelize,
    clock,
    openJobs,
    carrier: { receivers: [], carry: () => Promise.reject(new Error('nobody is told')) },
    events: job.events,
    log: job.log,
  } as unknown as Foundation
  const launcher = define(foundation, {
    ...{ developersUrl: null, developersWebUrl: null, dashboardUrl: 'http://launcher.localhost', appsWay: createCallersWay([]) },
    reaching: { service: null, vapid: { privateKey: null, subject: 'mailto:ops@example.test' } },
    billing: { secrets: null, prices: {}, isLive: false },
    marketing: { url: '', leadsMailTo: null, demoTimeZone: 'UTC', consentService: null, challengeSecret: null },
  })
  open.defer(() => launcher.stop())
  const server = await serveSubgraph({ subgraph: launcher, seals, host: '127.0.0.1', port: 0, publicUrl: '', readiness: [], log: job.log })
  open.defer(() => server.close())
  const transport = createRemoteTransport({ subgraphs: new Map([['launcher', { url: `http://127.0.0.1:${server.port}/graphql` }]]), seal })
  open.defer(() => transport.close())
  const subscribe = async (viewer: Viewer) => {
    const call = { variables: {}, viewer, requestId: 'stream', operation: new Work('stream', undefined, undefined, () => performance.now()) }
    return (await transport.subscribe(widgets, call)) as ResultStream
  }
  return { graph, subscribe }
}

/** How many posts are due today, as the next event of publishing's widget says. */
async function dueToday(stream: ResultStream): Promise<unknown> {
  for (;;) {
    const { value } = await stream.next()
    const shown = value.data?.widgetUpdated as { app: string; payload: { statistics: { key: string; value: number }[] } } | undefined
    if (!shown) return value.errors
    if (shown.app === 'publishing') return shown.payload.statistics.find(({ key }) => key === 'scheduledToday')?.value
  }
}

test('a stream of a distributed subgraph still calls other services for its events after an hour', async () => {
  const { graph, subscribe } = await launcherApart()
  const { owner, brand } = await graph.seed.owner().brand()
  const stream = await subscribe(owner)
  expect(await dueToday(stream)).toBe(0)
  for (const [due, later] of [61_000, 3_600_000].entries()) {
    await graph.clock.advance(later)
    const pending = dueToday(stream)
    const input = { brandId: brand.id, platform: 'X', copy: 'x', scheduledAt: graph.clock.soon() }
    ;(await graph.execute(createPost, { input }, { as: owner })).data()
    expect(await Promise.race([pending, unread(graph.log)])).toBe(due + 1)
  }
  await stream.return()
})

/** Resolves when a widget could not be read. */
const unread = (log: readonly string[]) => vi.waitUntil(() => log.find(line => line.includes('could not be read')), { timeout: 10_000 }).catch(() => undefined)
