import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type ExecutionResult, Kind, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import { newId } from '../../platform/ids.ts'
import type { ResultStream } from '../../router/engine/engine.ts'
import { createHub } from '../../router/live/shared/hub.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { generateOperation } from '../differential/operation.ts'
import { subscribeAlone } from '../kit/stream.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { anonymous, key, person, personally } from '../kit/viewers.ts'
import { seedPerson } from '../subgraphs/identity/user/seed.ts'
import { batchOf, openSettlement } from '../subgraphs/payments/settlement/stage.ts'

const operations = Math.ceil(Number(process.env.DIFFERENTIAL_OPERATIONS ?? 280) / 14)
const seed = Number(process.env.SEED ?? 20_261_122)

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }'

/** What a client is told, without the ids of requests. */
const textOf = ({ data, errors }: ExecutionResult): string =>
  JSON.stringify({ data, errors: errors?.map(({ message, path, extensions: { requestId: _, ...rest } = {} }) => ({ message, path, rest })) })

/** The same subscription by a stream of its own, and by one that may serve others. */
async function both(graph: Supergraph, hub: ReturnType<typeof createHub>, source: string, variables: Record<string, unknown>, viewer: Viewer) {
  const request = { document: parse(source), variables, viewer, requestId: 'request-1' }
  const [alone, together]: [string[], string[]] = [[], []]
  const own = await subscribeAlone(graph.platform.engine, request)
  const joined = await hub.join({
    request,
    formatErrors: errors => errors.map(({ message, path, extensions }) => ({ message, ...(path && { path }), extensions })),
  })
  if (!('listen' in joined)) together.push(textOf(joined))
  else
    joined.listen({
      send: ({ json }) => together.push(textOf(JSON.parse(json) as ExecutionResult)),
      end: errors => together.push(`ended: ${JSON.stringify(errors)}`),
    })
  if (!(Symbol.asyncIterator in own)) alone.push(textOf(JSON.parse(JSON.stringify(own))))
  else void follow(own, alone)
  return {
    alone,
    together,
    isOpen: Symbol.asyncIterator in own,
    async end() {
      if ('listen' in joined) joined.leave()
      if (Symbol.asyncIterator in own) await own.return()
    },
  }
}

async function follow(stream: ResultStream, heard: string[]) {
  for await (const answer of stream) heard.push(textOf(JSON.parse(JSON.stringify(answer))))
}

/** Subscriptions that may be shared: what sharing tells of each is compared in a test of this file. */
const compared = ['brandActivity', 'connectionHealthChanged', 'orderUpdated', 'postStatusChanged', 'settlementBatchUpdated', 'widgetUpdated']

test('compares every shareable subscription with separate streams', () => {
  const { definitions } = parse(readFileSync(join(import.meta.dirname, '../../schema/supergraph.graphql'), 'utf8'))
  const fields = definitions.flatMap(each => (each.kind === Kind.OBJECT_TYPE_DEFINITION && each.name.value === 'Subscription' ? (each.fields ?? []) : []))
  const shared = fields.filter(({ directives = [] }) => directives.some(({ name }) => name.value === 'shared')).map(({ name }) => name.value)
  expect(shared.toSorted(), 'write a test here that compares what it tells, shared and alone, and add its name to `compared`').toEqual(compared)
})

test('D8 subscribers of a shared stream receive the same as by separate streams, for random subscriptions and every kind of viewer', {
  timeout: 600_000,
}, async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, member, viewer, outsider, organization, elsewhere, brand, thread } = await graph.seed
    .owner()
    .member()
    .viewer()
    .outsider()
    .brand()
    .connection()
    .thread(2)
  const elsewhereToo = person(owner.userId!, elsewhere.id, ['member'])
  // Whoever began a stream, and was removed since: what others are told is asked with that person's rights.
  const former = person((await seedPerson(graph, 'Somebody who left')).id, organization.id, ['member'])
  const keys = [key(organization.id, ['publishing:posts.read']), key(organization.id, ['publishing:posts.read', 'publishing:accounts.read'])]
  const viewers = [former, owner, { ...owner, sessionId: 'another' }, member, viewer, outsider, ...keys, elsewhereToo, personally(owner), anonymous]
  const values = { brandId: [brand.id], threadId: [thread[0]!.threadId, null], first: [1, 5] }
  const hub = createHub(graph.platform.engine, { perCaller: 10_000 })
  const { schema } = graph.platform.engine
  // What is done to posts tells nothing to those who follow something else.
  const others = Object.keys(schema.getSubscriptionType()!.getFields()).filter(field => field !== 'postStatusChanged' && field !== 'brandActivity')
  const without = new Set(others.map(field => `Subscription.${field}`))
  const counted = { streams: 0, upstreams: 0, events: 0 }

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 27_720 }), { minLength: 40, maxLength: 200 }), async choices => {
      const { source, variables } = generateOperation({ schema, kind: 'subscription', values, without, mostFields: 30 }, choices)
      fc.pre(validate(schema, parse(source)).length === 0)
      const streams = await Promise.all(viewers.map(each => both(graph, hub, source, variables, each)))
      counted.streams += streams.length
      counted.upstreams += hub.figures.upstreams()
      const open = streams.filter(({ isOpen }) => isOpen)
      // Steps that follow each other at once may be seen as one: each is told before the next.
      const told = (events: number) =>
        expect.poll(() => open.every(({ alone, together }) => alone.length === events && together.length === events), { timeout: 5000 }).toBe(true)
      const post = await graph.execute(
        createPost,
        { input: { brandId: brand.id, platform: 'X', copy: 'new', threadId: thread[0]!.threadId } },
        { as: choices[0]! % 2 ? owner : former },
      )
      await told(1)
      await graph.execute(
        'mutation ($input: DeletePostInput!) { deletePost(input: $input) { id } }',
        { input: { id: post.data().createPost.id } },
        { as: owner },
      )
      await told(2)
      for (const [index, { alone, together }] of streams.entries())
        expect(together, `${source}\n${JSON.stringify(variables)}\nas ${viewers[index]!.kind} ${viewers[index]!.roles}`).toEqual(alone)
      counted.events += open.length
      await Promise.all(streams.map(({ end }) => end()))
    }),
    { seed, numRuns: operations, endOnFailure: true },
  )
  console.log(`shared streams: seed ${seed}, ${JSON.stringify(counted)}`)
  expect(counted.upstreams).toBeLessThan(counted.streams * 0.9)
  // Processes apart hear of it a moment later.
  await expect.poll(() => [hub.figures.upstreams(), graph.listeners()]).toEqual([0, 0])
})

test('the health of connections is the same for all of an organization, and invisible to others', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, member, outsider, brand, connection } = await graph.seed.owner().member().outsider().brand().connection()
  const hub = createHub(graph.platform.engine)
  const source = 'subscription ($brandId: ID) { connectionHealthChanged(brandId: $brandId) { id health active author { name } } }'
  const streams = [
    await both(graph, hub, source, { brandId: brand.id }, owner),
    await both(graph, hub, source, { brandId: brand.id }, member),
    await both(graph, hub, source, {}, member),
    await both(graph, hub, source, {}, outsider),
  ]
  const end = 'mutation ($input: DisconnectConnectionInput!) { disconnectConnection(input: $input) { id } }'
  ;(await graph.execute(end, { input: { id: connection.id } }, { as: owner })).data()
  const told = { id: connection.id, health: 'NEEDS_RECONNECT', active: false }
  for (const { together, alone } of streams.slice(0, 3))
    for (const heard of [together, alone]) {
      await expect.poll(() => heard.length).toBe(1)
      expect(JSON.parse(heard[0]!).data.connectionHealthChanged).toMatchObject(told)
    }
  for (const { together, alone } of streams) expect(together).toEqual(alone)
  expect(streams[3]!.together).toEqual([])
  for (const each of streams) await each.end()
})

test('order events are the same for all of an organization, and invisible to others', async () => {
  await using graph = await supergraph()
  const { owner, member, outsider } = await graph.seed.owner().member().outsider()
  const hub = createHub(graph.platform.engine)
  const write = 'mutation ($input: CreateOrderInput!) { createOrder(input: $input) { id } }'
  const input = { currency: 'EUR', lines: [{ name: 'Ticket', unitAmountMinor: 100 }] }
  const { createOrder: order } = (await graph.execute(write, { input }, { as: owner })).data()
  const source = 'subscription ($orderId: ID) { orderUpdated(orderId: $orderId) { id status description createdBy { id } transactions { nodes { id } } } }'
  const streams = [
    await both(graph, hub, source, { orderId: order.id }, owner),
    await both(graph, hub, source, { orderId: order.id }, member),
    await both(graph, hub, source, {}, member),
    await both(graph, hub, source, {}, outsider),
  ]
  const update = 'mutation ($input: UpdateOrderInput!) { updateOrder(input: $input) { id } }'
  ;(await graph.execute(update, { input: { id: order.id, description: 'Two seats' } }, { as: owner })).data()
  for (const { together, alone } of streams.slice(0, 3))
    for (const heard of [together, alone]) {
      await expect.poll(() => heard.length).toBe(1)
      expect(JSON.parse(heard[0]!).data.orderUpdated).toMatchObject({ id: order.id, status: 'DRAFT', description: 'Two seats' })
    }
  for (const { together, alone } of streams) expect(together).toEqual(alone)
  expect(streams[3]!.together).toEqual([])
  for (const each of streams) await each.end()
})

test('settlementBatchUpdated reports every change of a batch to each of its subscribers, shared or alone', async () => {
  await using settlement = await openSettlement()
  const { graph, owner } = settlement.shop
  const hub = createHub(graph.platform.engine)
  const { id } = (await settlement.submit(batchOf([100]))).data().submitSettlementBatch
  await settlement.settled(id, 'SETTLED')
  const source = 'subscription ($id: ID!) { settlementBatchUpdated(id: $id) { id status reversedTotal { amountMinor } lines { nodes { status } } } }'
  const streams = [await both(graph, hub, source, { id }, owner), await both(graph, hub, source, { id }, { ...owner, sessionId: 'another' })]
  ;(await settlement.shop.ask('reverseSettlementBatch', { id }, settlement.service, 'id')).data()
  await settlement.settled(id, 'REVERSED')
  for (const { together, alone } of streams)
    for (const heard of [together, alone])
      await expect
        .poll(() => heard.map(text => JSON.parse(text).data.settlementBatchUpdated).at(-1))
        .toEqual({ id, status: 'REVERSED', reversedTotal: { amountMinor: 100 }, lines: { nodes: [{ status: 'REVERSED' }] } })
  for (const each of streams) await each.end()
})

test('a person who started a stream and left the organization since is not shown to its other subscribers', async () => {
  await using graph = await supergraph()
  const { owner, organization, brand } = await graph.seed.owner().brand()
  const former = person((await seedPerson(graph, 'Somebody who left')).id, organization.id, ['member'])
  const source = 'subscription ($brandId: ID!) { postStatusChanged(brandId: $brandId) { copy author { name email } } }'
  const hub = createHub(graph.platform.engine)
  const streams = [await both(graph, hub, source, { brandId: brand.id }, former), await both(graph, hub, source, { brandId: brand.id }, owner)]
  expect(hub.figures.upstreams()).toBe(1)
  const input = { brandId: brand.id, platform: 'X', copy: 'A last word' }
  ;(await graph.execute(createPost, { input }, { as: former })).data()
  for (const { together, alone } of streams)
    for (const heard of [together, alone])
      await expect.poll(() => heard).toEqual([JSON.stringify({ data: { postStatusChanged: { copy: 'A last word', author: null } } })])
  for (const { end } of streams) await end()
})

test('L-02 dashboards of one organization share their widgets where they may see the same ones, and the second needs no call to any service', async () => {
  await using graph = await supergraph()
  const { owner, member, outsider } = await graph.seed.owner().member().outsider().brand()
  const hub = createHub(graph.platform.engine)
  const source = 'subscription { widgetUpdated { app payload { statistics { key value } } } }'
  const dashboard = async (viewer: Viewer) => {
    const heard: { app: string }[] = []
    const joined = await hub.join({ request: { document: parse(source), viewer, requestId: 'request-1' }, formatErrors: () => [] })
    if (!('listen' in joined)) throw new Error(JSON.stringify(joined))
    joined.listen({ send: ({ json }) => heard.push(JSON.parse(json).data.widgetUpdated), end() {} })
    return { heard, leave: joined.leave }
  }
  const first = await dashboard(owner)
  await expect.poll(() => first.heard.map(({ app }) => app).sort()).toEqual(['agents', 'payments', 'providers', 'publishing'])
  const second = await dashboard({ ...owner, userId: member.userId, sessionId: 'another' })
  expect(second.heard).toEqual(first.heard)
  expect(hub.figures.upstreams()).toBe(1)
  const others = [await dashboard(member), await dashboard(outsider)]
  expect(hub.figures.upstreams()).toBe(3)
  for (const { leave } of [first, second, ...others]) leave()
  // Processes apart hear of it a moment later.
  await expect.poll(() => [hub.figures.upstreams(), graph.listeners()]).toEqual([0, 0])
})

/** How often the launcher has asked services what their widgets show. */
async function widgetsRead({ metrics }: Supergraph): Promise<number> {
  const counted = await metrics.getSingleMetric('supergraph_operations_total')!.get()
  return counted.values.filter(({ labels }) => labels.operation === 'Widgets').reduce((sum, { value }) => sum + value, 0)
}

test('L-02 a change is read once for each kind of dashboard that shows it, however many are open', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, outsider, viewer, brand } = await graph.seed.owner().viewer().outsider().brand().connection()
  const hub = createHub(graph.platform.engine)
  const request = { document: parse('subscription { widgetUpdated { app payload { statistics { key value } } } }'), requestId: 'request-1' }
  const everybody = [owner, viewer, outsider].flatMap(who => Array.from({ length: 40 }, () => ({ ...who, userId: newId(), sessionId: newId() })))
  const boards = await Promise.all(
    everybody.map(async who => {
      const heard: { app: string; payload: { statistics: { value: number }[] } }[] = []
      const joined = await hub.join({ request: { ...request, viewer: who }, formatErrors: () => [] })
      if (!('listen' in joined)) throw new Error(JSON.stringify(joined))
      joined.listen({ send: ({ json }) => heard.push(JSON.parse(json).data.widgetUpdated), end() {} })
      return { organization: who.organizationId, heard, leave: joined.leave }
    }),
  )
  const lastOf = (organization: string | null) => boards.filter(board => board.organization === organization).map(({ heard }) => heard.at(-1))
  // What is present is told widget by widget: it has been read when all four were told.
  await expect.poll(() => boards.every(({ heard }) => new Set(heard.map(({ app }) => app)).size === 4), { timeout: 10_000 }).toBe(true)
  expect(hub.figures.upstreams()).toBe(3)
  const before = await widgetsRead(graph)
  for (const count of [1, 2, 3]) {
    const input = { brandId: brand.id, platform: 'X', copy: 'It changes', scheduledAt: graph.clock.soon() }
    ;(await graph.execute(createPost, { input }, { as: owner })).data()
    await expect.poll(() => new Set(lastOf(owner.organizationId).map(board => board?.payload.statistics[0]?.value))).toEqual(new Set([count]))
    // Those of the owner and of who may only look; the other organization's are not even asked.
    expect(await widgetsRead(graph)).toBe(before + 2 * count)
  }
  expect(new Set(lastOf(outsider.organizationId).map(board => board?.payload.statistics[0]?.value))).not.toContain(3)
  for (const { leave } of boards) leave()
  // Processes apart hear of it a moment later.
  await expect.poll(() => [hub.figures.upstreams(), graph.listeners()]).toEqual([0, 0])
})
