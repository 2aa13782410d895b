import { describe, expect, test, vi } from 'vitest'
import { openRouter } from '../door/platform.ts'
import { follow, forms } from '../kit/follower.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

// Streams as clients have them, by every form; `.ci/run` runs it over every carrier, with subgraphs in one process and apart.

const updatePost = 'mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }'
const scopes = ['publishing:dashboard.read', 'publishing:posts.read', 'publishing:posts.write', 'publishing:accounts.read', 'launcher:widgets.read']

/** A router that listens before the whole graph, for a key of the organization. */
async function open() {
  const stack = new AsyncDisposableStack()
  const graph: Supergraph = stack.use(await supergraph())
  const { owner, brand, post, organization } = await graph.seed.owner().brand().post()
  const door = stack.use(await openRouter(graph.platform.engine))
  door.keys.set('hash of k', { keyId: 'k', organizationId: organization.id, userId: null, rateLimit: 600, scopes, expiresAt: null })
  return {
    graph,
    door,
    change: async (copy: string) => (await graph.execute(updatePost, { input: { id: post.id, copy } }, { as: owner })).data(),
    /** Follows the brand's posts; what is told is kept as it came. */
    async follow(form: (typeof forms)[number]) {
      const texts: string[] = []
      const query = `subscription { postStatusChanged(brandId: "${brand.id}") { id copy author { name } brand { name organization { name } } } }`
      const follower = await follow({ url: door.url, key: 'k' }, form, query, text => texts.push(text))
      return { follower, texts }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

describe.each(forms)('S-04 over %s', form => {
  test('each change is sent whole, with fields of other subgraphs, and nothing after unsubscribing', async () => {
    await using world = await open()
    const { follower, texts } = await world.follow(form)
    await vi.waitFor(() => expect(world.graph.listeners()).toBeGreaterThan(0), 10_000)
    for (const copy of ['first', 'second']) {
      await world.change(copy)
      await vi.waitFor(() => expect(texts.some(text => text.includes(`"copy":"${copy}"`))).toBe(true), 10_000)
    }
    expect(texts.every(text => text.includes('"organization":{"name":'))).toBe(true)
    expect(follower.isCut).toBe(false)
    await follower.leave()
    await vi.waitFor(() => expect(world.graph.listeners()).toBe(0), 10_000)
    const before = texts.length
    await world.change('third')
    expect(texts).toHaveLength(before)
  })

  test('a client that disconnects silently leaves no listener either', async () => {
    await using world = await open()
    const { follower } = await world.follow(form)
    await vi.waitFor(() => expect(world.graph.listeners()).toBeGreaterThan(0), 10_000)
    await follower.leave(false)
    await vi.waitFor(() => expect(world.graph.listeners()).toBe(0), 10_000)
    expect([...world.door.router.live.subscriptions().values()]).toEqual([])
  })
})

test('D8 clients of different protocols share one stream, and receive the same events', async () => {
  await using world = await open()
  const followed = await Promise.all(forms.map(world.follow))
  await vi.waitFor(() => expect([...world.door.router.live.subscriptions().values()]).toEqual([forms.length]), 10_000)
  expect(world.door.router.live.upstreams()).toBe(1)
  for (const copy of ['one', 'two']) {
    await world.change(copy)
    await vi.waitFor(() => {
      for (const { texts } of followed) expect(texts.some(text => text.includes(`"copy":"${copy}"`))).toBe(true)
    }, 10_000)
  }
  const payloads = followed.map(({ texts }) => texts.flatMap(text => text.match(/\{"data":\{"postStatusChanged".*?\}\}\}\}/g) ?? []))
  expect(payloads[0]!.length).toBeGreaterThanOrEqual(2)
  expect(payloads[1]).toEqual(payloads[0])
  expect(payloads[2]).toEqual(payloads[0])
  // A run of the plan for an event, however many are told.
  expect(world.door.router.live.deliveries()).toBe(world.door.router.live.events() * forms.length)
  for (const { follower } of followed) await follower.leave()
  await vi.waitFor(() => expect(world.graph.listeners()).toBe(0), 10_000)
})
