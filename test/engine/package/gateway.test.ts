import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parse } from 'graphql'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import * as ours from '../../../router/engine/package/exports.ts'
import { both, type Config, type Name, packages, type Served, serve, silent } from './both.ts'
import { composeShop, parts, type Shop, startShop } from './shop.ts'

let shop: Shop
let changed: string
const open: { stop(): Promise<void> }[] = []

beforeAll(async () => {
  shop = await startShop()
  changed = composeShop(shop.urls, { catalog: ' extend type Query { fresh: Int }' })
})
afterEach(async () => {
  shop.instead = null
  vi.unstubAllEnvs()
  await Promise.all(open.splice(0).map(each => each.stop().catch(() => {})))
})
afterAll(() => shop.close())

const lines = () => {
  const seen: string[] = []
  const logger = Object.fromEntries((['debug', 'info', 'warn', 'error'] as const).map(level => [level, (text: string) => void seen.push(`${level} ${text}`)]))
  return { seen, logger: logger as unknown as typeof silent }
}

async function serving(name: Name, config: Config): Promise<Served> {
  const served = await serve(name, config)
  open.push(served)
  return served
}

/** Runs a story with both packages, and expects the same of both. */
async function same(story: (name: Name, told: (...facts: unknown[]) => void) => Promise<void>): Promise<unknown[]> {
  const told: Record<Name, unknown[]> = { stock: [], ours: [] }
  for (const name of both) await story(name, (...facts) => void told[name].push(...facts))
  expect(told.ours).toEqual(told.stock)
  return told.ours
}

const messageOf = (work: () => unknown) => {
  try {
    work()
    return 'nothing thrown'
  } catch (cause) {
    return (cause as Error).message
  }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'resolved',
    (cause: Error) => cause.message,
  )

describe('supergraphSdl', () => {
  it('as a function is given update, healthCheck and getDataSource, and cleaned up', async () => {
    await same(async (name, told) => {
      let update: ((text: string) => void) | undefined
      const schemas: string[] = []
      const updates: unknown[] = []
      const gateway = new packages[name].ApolloGateway({
        logger: silent,
        experimental_didUpdateSupergraph: (...infos) => void updates.push(infos.map(info => info && 'compositionId' in info && info.compositionId)),
        async supergraphSdl(given) {
          update = given.update
          await given.healthCheck(shop.supergraphSdl)
          const source = given.getDataSource({ name: 'catalog', url: shop.urls.catalog! })
          told(source instanceof packages[name].RemoteGraphQLDataSource, source === given.getDataSource({ name: 'catalog', url: shop.urls.catalog! }))
          return { supergraphSdl: shop.supergraphSdl, cleanup: async () => told('cleaned') }
        },
      })
      open.push(gateway)
      gateway.onSchemaLoadOrUpdate(
        ({ apiSchema, coreSupergraphSdl }) => void schemas.push(`${apiSchema.getQueryType()?.getFields().fresh} ${coreSupergraphSdl.length}`),
      )
      const leave = gateway.onSchemaLoadOrUpdate(() => {
        throw new Error('of a listener')
      })
      told(gateway.__testing().state, await gateway.load().then(({ executor }) => typeof executor), gateway.__testing().state)
      leave()
      update!(changed)
      update!(changed)
      told(
        messageOf(() => update!('type Query {')),
        messageOf(() => update!('type Query { a: Int }')),
      )
      told(schemas, updates, gateway.schema?.getQueryType()?.getFields().fresh !== undefined, gateway.__testing().compositionId)
      await gateway.stop()
      await gateway.stop()
      told(
        gateway.__testing().state.phase,
        messageOf(() => update!(shop.supergraphSdl)),
      )
    })
  })

  it('as a manager is shown, and answers by each update', async () => {
    await same(async (name, told) => {
      let update!: (text: string) => void
      const manager = {
        async initialize(given: { update: typeof update }) {
          update = given.update
          return { supergraphSdl: shop.supergraphSdl }
        },
      }
      const served = await serving(name, { supergraphSdl: manager })
      told(served.gateway.supergraphManager === manager)
      told((await served.run('{ fresh }')).errors?.[0]?.extensions.code)
      update(changed)
      told(await served.run('{ fresh warehouse { id } }'))
    })
  })

  it('that cannot be used ends the load with its reason', async () => {
    await same(async (name, told) => {
      for (const supergraphSdl of [
        '',
        'type Query {',
        'type Query { a: Int }',
        shop.supergraphSdl.replace('for: EXECUTION', 'for: SECURITY').replace('join/v0.5', 'join/v9.9'),
      ]) {
        const gateway = new packages[name].ApolloGateway({ logger: silent, supergraphSdl })
        told(await failureOf(gateway.load()), gateway.__testing().state.phase)
      }
      const failing = new packages[name].ApolloGateway({ logger: silent, supergraphSdl: async () => Promise.reject(new Error('no text')) })
      told(await failureOf(failing.load()), await failureOf(failing.load()))
    })
  })

  it('with rules of access is refused, because nobody would apply them', async () => {
    const guarded = shop.supergraphSdl.replace('schema\n', 'schema @link(url: "https://specs.apollo.dev/authenticated/v9.0", for: SECURITY)\n')
    vi.stubEnv('NODE_ENV', 'production')
    await same(async (name, told) => told(await failureOf(new packages[name].ApolloGateway({ logger: silent, supergraphSdl: guarded }).load())))
  })
})

describe('health checks', () => {
  it('name the subgraph that does not answer', async () => {
    await same(async (name, told) => {
      const served = await serving(name, { supergraphSdl: shop.supergraphSdl })
      told((await served.gateway.serviceHealthCheck()).map(each => [each.name, each.response.data]))
      shop.instead = ({ subgraph }) => (subgraph === 'stock' ? { status: 503, body: '' } : undefined)
      told(await failureOf(served.gateway.serviceHealthCheck()))
      told(
        await failureOf(
          serve(name, {
            async supergraphSdl({ healthCheck }) {
              await healthCheck(shop.supergraphSdl)
              return { supergraphSdl: shop.supergraphSdl }
            },
          }),
        ),
      )
      shop.instead = null
    })
  })
})

describe('managers that compose', () => {
  const subgraphs = () => Object.entries(shop.urls).map(([name, url]) => ({ name, url }))

  it('ask subgraphs for their SDL, with headers, and follow their changes', async () => {
    const { IntrospectAndCompose } = packages.ours
    const polled = new IntrospectAndCompose({
      subgraphs: subgraphs(),
      introspectionHeaders: ({ name }) => ({ 'x-of': name }),
      pollIntervalInMs: 20,
      subgraphHealthCheck: true,
    })
    shop.asked.length = 0
    const served = await serving('ours', { supergraphSdl: polled })
    expect(
      shop.asked
        .filter(({ body }) => body.query?.includes('_service'))
        .map(({ headers }) => headers['x-of'])
        .sort(),
    ).toEqual(['catalog', 'reviews', 'stock'])
    expect((await served.run('{ fresh }')).errors).toHaveLength(1)
    const sdl = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag", "@inaccessible"])\n${parts.catalog!.sdl} extend type Query { fresh: Int }`
    shop.instead = asked =>
      asked.subgraph === 'catalog' && asked.body.query?.includes('_service')
        ? { status: 200, body: JSON.stringify({ data: { _service: { sdl } } }) }
        : undefined
    await expect.poll(async () => (await served.run('{ fresh }')).data, { timeout: 10_000 }).toEqual({ fresh: null })
  })

  it('tell what is wrong', async () => {
    await same(async (name, told) => {
      const { IntrospectAndCompose, ApolloGateway } = packages[name]
      const { seen, logger } = lines()
      const load = (supergraphSdl: InstanceType<typeof IntrospectAndCompose>) => failureOf(new ApolloGateway({ logger: silent, supergraphSdl }).load())
      told(await load(new IntrospectAndCompose({ subgraphs: [] })), await load(new IntrospectAndCompose({ subgraphs: [{ name: 'a' }] })))
      shop.instead = () => ({ status: 200, body: '{"errors":[{"message":"no SDL"}]}' })
      told(await load(new IntrospectAndCompose({ subgraphs: subgraphs().slice(0, 1), logger })), seen)
      shop.instead = () => ({ status: 200, body: '{"data":{"_service":{"sdl":"type Query { a: Missing }"}}}' })
      told(await load(new IntrospectAndCompose({ subgraphs: subgraphs().slice(0, 1) })))
      shop.instead = null
    })
  })

  it('compose documents, and run them in this process', async () => {
    await same(async (name, told) => {
      const { seen, logger } = lines()
      const { LocalCompose, LocalGraphQLDataSource } = packages[name]
      const sdl = (subgraph: string) => new LocalGraphQLDataSource(shop.schemas[subgraph]!).sdl()
      const localServiceList = Object.keys(parts).map(subgraph => ({ name: subgraph, typeDefs: sdl(subgraph) })) as never
      const buildService = (definition: { name: string }) => new LocalGraphQLDataSource(shop.schemas[definition.name]!)
      for (const config of [{ supergraphSdl: new LocalCompose({ localServiceList, logger }) }, { localServiceList, logger }])
        told(await (await serving(name, { buildService, ...config })).run('{ products(first: 1) { stock } }'))
      told(seen.filter(line => line.startsWith('warn')))
    })
  })

  it('are made of serviceList, with the line of its deprecation', async () => {
    await same(async (name, told) => {
      const { seen, logger } = lines()
      const served = await serving(name, { serviceList: subgraphs() as never, pollIntervalInMs: 100_000, logger })
      told(
        await served.run('{ warehouse { city } }'),
        seen.filter(line => line.startsWith('warn')),
      )
    })
  })
})

describe('GraphOS', () => {
  let uplink: Server
  const asked: Record<string, unknown>[] = []
  let answers: (() => { status: number; body: unknown })[] = []
  beforeAll(async () => {
    uplink = createServer(async (request, response) => {
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece)
      asked.push(JSON.parse(Buffer.concat(pieces).toString()).variables)
      const { status, body } = (answers.length > 1 ? answers.shift()! : answers[0]!)()
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
    await new Promise<void>(listening => uplink.listen(0, '127.0.0.1', () => listening()))
  })
  afterAll(() => {
    uplink.closeAllConnections()
    uplink.close()
  })
  const result = (id: string, supergraphSDL: string) => () => ({
    status: 200,
    body: { data: { routerConfig: { __typename: 'RouterConfigResult', id, supergraphSdl: supergraphSDL, minDelaySeconds: 30 } } },
  })
  const url = () => `http://127.0.0.1:${(uplink.address() as AddressInfo).port}/`

  it('gives the supergraph of an Apollo Server with a key', async () => {
    answers = [result('one', shop.supergraphSdl)]
    await same(async (name, told) => {
      asked.length = 0
      const served = await serve(name, { uplinkEndpoints: [url()], uplinkMaxRetries: 0 }, { apollo: { key: 'service:mine:secret', graphRef: 'mine@prod' } })
      open.push(served)
      told(asked, (await served.run('{ warehouse { city } }')).data)
    })
    expect(asked).toEqual([{ apiKey: 'service:mine:secret', ref: 'mine@prod', ifAfterId: null }])
  })

  it('refuses, and the load fails with its words', async () => {
    const load = (name: Name) =>
      failureOf(
        new packages[name].ApolloGateway({ logger: silent, uplinkEndpoints: [url()], uplinkMaxRetries: 0 }).load({
          apollo: { key: 'k', keyHash: 'h', graphRef: 'mine@prod' },
        }),
      )
    for (const body of [
      { data: { routerConfig: { __typename: 'FetchError', code: 'AUTHENTICATION_FAILED', message: 'no such key' } } },
      { errors: [{ message: 'broken' }] },
    ]) {
      answers = [() => ({ status: 200, body })]
      await same(async (name, told) => told(await load(name)))
    }
    answers = [() => ({ status: 503, body: {} })]
    await same(async (name, told) => told(await load(name)))
  })

  it('is asked again where it fails, then its user', async () => {
    answers = [() => ({ status: 500, body: {} }), result('one', shop.supergraphSdl)]
    const manager = new ours.UplinkSupergraphManager({ apiKey: 'k', graphRef: 'g@v', uplinkEndpoints: [url()], maxRetries: 1, logger: silent })
    const given = { update() {}, healthCheck: async () => {}, getDataSource: () => new ours.RemoteGraphQLDataSource() }
    const { supergraphSdl, cleanup } = await manager.initialize(given)
    expect(supergraphSdl).toBe(shop.supergraphSdl)
    await cleanup()
    answers = [() => ({ status: 500, body: {} })]
    const other = new ours.UplinkSupergraphManager({
      ...{ apiKey: 'k', graphRef: 'g@v', uplinkEndpoints: [url()], maxRetries: 0, logger: silent },
      onFailureToFetchSupergraphSdlDuringInit: async ({ error, graphRef }) => `${graphRef} ${error.name}`,
    })
    const begun = await other.initialize(given)
    expect(begun.supergraphSdl).toBe('g@v UplinkFetcherError')
    await begun.cleanup()
  })

  it('is needed where nothing else is configured', async () => {
    await same(async (name, told) => told(await failureOf(new packages[name].ApolloGateway({ logger: silent }).load())))
  })
})

describe('what is not supported', () => {
  it('throws a sentence that says what to do', () => {
    for (const option of ['experimental_updateServiceDefinitions', 'experimental_updateSupergraphSdl'])
      expect(messageOf(() => new ours.ApolloGateway({ [option]: async () => ({}) } as never))).toBe(
        `\`${option}\` is not supported: give \`supergraphSdl\` as a function, which gets \`update\` and returns the first supergraph.`,
      )
    expect(messageOf(() => ours.executeQueryPlan())).toContain('createEngine')
    expect(messageOf(() => ours.buildOperationContext())).toContain('createEngine')
  })

  it('is named in the log where it has no effect', () => {
    const { seen, logger } = lines()
    new ours.ApolloGateway({ supergraphSdl: '', logger, experimental_autoFragmentization: true, queryPlannerConfig: { reuseQueryFragments: true } })
    expect(seen.filter(line => line.startsWith('warn'))).toEqual([
      'warn Without effect here: experimental_autoFragmentization, queryPlannerConfig.reuseQueryFragments',
    ])
  })

  it('has the same strings for questions to subgraphs', () => {
    expect(ours.HEALTH_CHECK_QUERY).toBe(packages.stock.HEALTH_CHECK_QUERY)
    expect(ours.SERVICE_DEFINITION_QUERY).toBe(packages.stock.SERVICE_DEFINITION_QUERY)
    expect(() => parse(ours.SERVICE_DEFINITION_QUERY)).not.toThrow()
  })

  it('subscriptions fail as with @apollo/gateway', async () => {
    const sdl = composeShop(shop.urls, { catalog: ' type Subscription { ticks: Int }' })
    await same(async (name, told) => told((await (await serving(name, { supergraphSdl: sdl })).run('subscription { ticks }')).errors?.[0]?.message))
  })
})
