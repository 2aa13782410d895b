import fc from 'fast-check'
import { type ExecutionResult, parse, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { ResultStream } from '../../router/engine/engine.ts'
import { createHub } from '../../router/live/shared/hub.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { generateOperation } from '../differential/operation.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'
import { anonymous, key, person, personally } from '../kit/viewers.ts'

const operations = Math.ceil(Number(process.env.DIFFERENTIAL_OPERATIONS ?? 280) / 14)
const seed = Number(process.env.SEED ?? 20_261_122)

/** What a client is told, without the ids of requests. */
const textOf = ({ data, errors }: ExecutionResult): string =>
  JSON.stringify({ data, errors: errors?.map(({ message, path, extensions: { requestId: _, ...rest } = {} }) => ({ message, path, rest })) })

/** The same subscription by a stream of its own, and by one that may serve others. */
async function both(graph: Supergraph, hub: ReturnType<typeof createHub>, source: string, variables: Record<string, unknown>, viewer: Viewer) {
  const request = { document: parse(source), variables, viewer, requestId: 'request-1' }
  const [alone, together]: [string[], string[]] = [[], []]
  const own = await graph.platform.engine.subscribe(request)
  const joined = await hub.join({
    request,
    tellErrors: errors => errors.map(({ message, path, extensions }) => ({ message, ...(path && { path }), extensions })),
  })
  if (!('listen' in joined)) together.push(textOf(joined))
  else
    joined.listen({
      tell: ({ json }) => together.push(textOf(JSON.parse(json) as ExecutionResult)),
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

test('D8 whoever shares a stream is told what a stream of his own tells, for random subscriptions and every kind of viewer', { timeout: 600_000 }, async () => {
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
  const keys = [key(organization.id, ['publishing:posts.read']), key(organization.id, ['publishing:posts.read', 'publishing:accounts.read'])]
  const viewers = [owner, { ...owner, sessionId: 'another' }, member, viewer, outsider, ...keys, elsewhereToo, personally(owner), anonymous]
  const values = { brandId: [brand.id], threadId: [thread[0]!.threadId, null], first: [1, 5] }
  const hub = createHub(graph.platform.engine, { perCaller: 10_000 })
  const { schema } = graph.platform.engine
  const counted = { streams: 0, upstreams: 0, events: 0 }

  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 27_720 }), { minLength: 40, maxLength: 200 }), async choices => {
      const without = new Set(['Subscription.widgetUpdated', 'Subscription.actionQueueChanged'])
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
        'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }',
        { input: { brandId: brand.id, platform: 'X', copy: 'new', threadId: thread[0]!.threadId } },
        { as: owner },
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

test('L-02 dashboards of one organization share their widgets where they may see the same ones, and the second is told them without asking any service', async () => {
  await using graph = await supergraph()
  const { owner, member, outsider } = await graph.seed.owner().member().outsider().brand()
  const hub = createHub(graph.platform.engine)
  const source = 'subscription { widgetUpdated { app payload { statistics { key value } } } }'
  const dashboard = async (viewer: Viewer) => {
    const heard: { app: string }[] = []
    const joined = await hub.join({ request: { document: parse(source), viewer, requestId: 'request-1' }, tellErrors: () => [] })
    if (!('listen' in joined)) throw new Error(JSON.stringify(joined))
    joined.listen({ tell: ({ json }) => heard.push(JSON.parse(json).data.widgetUpdated), end() {} })
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
