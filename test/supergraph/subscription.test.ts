import { afterEach, describe, expect, test, vi } from 'vitest'
import { newId } from '../../platform/ids.ts'
import { deliver } from '../../subgraphs/publishing/delivery/deliver.ts'
import { postStatusTopic } from '../../subgraphs/publishing/news/announce.ts'
import type { Viewer } from '../../subgraphs/viewer.ts'
import { type Supergraph, supergraph } from '../kit/supergraph.ts'

const statusChanged = `subscription($brandId: ID!, $threadId: ID) {
  postStatusChanged(brandId: $brandId, threadId: $threadId) {
    id status deliveryPhase failure { code } author { name } brand { name organization { name } }
  }
}`
const widgetUpdated = 'subscription { widgetUpdated { id app title payload { statistics { key value } items { title } } } }'
const createPost = 'mutation($input: CreatePostInput!) { createPost(input: $input) { id threadId } }'
const updatePost = 'mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }'

/** So long a widget's changes are gathered, in milliseconds. */
const gatherMs = 100
/** Long enough for what was announced to have come: events are passed on at once, widgets are gathered for 100 ms. */
const quiet = () => new Promise(resolve => setTimeout(resolve, 250))

const opened: Supergraph[] = []
afterEach(async () => {
  // Whatever a test did: nobody listens any more once its platform is let go.
  for (const graph of opened.splice(0)) {
    await vi.waitFor(() => expect(graph.listeners()).toBe(0), 10_000)
    await graph[Symbol.asyncDispose]()
  }
})
async function open(options: Parameters<typeof supergraph>[0] = {}) {
  const graph = await supergraph(options)
  opened.push(graph)
  return graph
}

describe('S-04 postStatusChanged', () => {
  test('delivers a post from its draft to the network’s answer, with fields of other subgraphs', async () => {
    const graph = await open({ sandbox: true })
    const { owner, organization, brand } = await graph.seed.owner().brand().connection()
    await using events = await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner })
    const { id } = (await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'Live' } }, { as: owner })).data().createPost
    expect((await events.next()).postStatusChanged).toEqual({
      id,
      status: 'DRAFT',
      deliveryPhase: 'NONE',
      failure: null,
      author: { name: expect.stringMatching(/^Person/) },
      brand: { name: brand.name, organization: { name: organization.name } },
    })
    await graph.execute(updatePost, { input: { id, scheduledAt: graph.clock.soon() } }, { as: owner })
    expect((await events.next()).postStatusChanged.status).toBe('SCHEDULED')
    await graph.clock.advance(60_000)
    await deliver(graph.job, { brandId: brand.id, postId: id })
    expect((await events.next(({ postStatusChanged }) => postStatusChanged.status === 'PUBLISHED')).postStatusChanged.failure).toBe(null)
  })

  test('L-02 delivers a failure with its reason', async () => {
    const graph = await open({ sandbox: true })
    const { owner, brand, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(1000) })
    await using events = await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner })
    await graph.clock.advance(1000)
    await deliver(graph.job, { brandId: brand.id, postId: post.id })
    const failed = await events.next(({ postStatusChanged }) => postStatusChanged.status === 'FAILED')
    expect(failed.postStatusChanged).toMatchObject({ failure: { code: 'NO_CONNECTION' } })
  })

  test('delivers each step of a delivery: claimed, being sent, published', async () => {
    const graph = await open({ sandbox: true })
    const { owner, brand, post } = await graph.seed
      .owner()
      .brand()
      .connection()
      .post({ scheduledAt: graph.clock.in(1000) })
    await using events = await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner })
    const received: unknown[] = []
    const steps = graph.job.events.listen([postStatusTopic(brand.id)])
    const listening = (async () => {
      for await (const step of steps) received.push(step)
    })()
    await graph.clock.advance(1000)
    await graph.x.arm({ fault: 'slow', delayMs: 500 })
    await deliver(graph.job, { brandId: brand.id, postId: post.id })
    expect((await events.next(({ postStatusChanged }) => postStatusChanged.deliveryPhase === 'SENDING')).postStatusChanged.status).toBe('SCHEDULED')
    expect((await events.next(({ postStatusChanged }) => postStatusChanged.status === 'PUBLISHED')).postStatusChanged.deliveryPhase).toBe('NONE')
    await steps.return()
    await listening
    expect(received).toEqual(Array(3).fill({ postId: post.id, threadId: post.threadId }))
  })

  test('delivers an edit, and null for a deleted post', async () => {
    const graph = await open()
    const { owner, brand, post } = await graph.seed.owner().brand().post()
    const document = 'subscription($brandId: ID!) { postStatusChanged(brandId: $brandId) { id copy } }'
    await using events = await graph.subscribe(document, { brandId: brand.id }, { as: owner })
    await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited' } }, { as: owner })
    expect((await events.next()).postStatusChanged).toEqual({ id: post.id, copy: 'Edited' })
    await graph.execute('mutation($id: ID!) { deletePost(input: { id: $id }) { id } }', { id: post.id }, { as: owner })
    expect(await events.next()).toEqual({ postStatusChanged: null })
    expect(events.events.every(({ errors }) => errors === undefined)).toBe(true)
  })

  test('is limited to a thread, or to the brand', async () => {
    const graph = await open()
    const story = graph.seed.owner().brand()
    const { owner, brand } = await story
    const { post: first } = await story.post()
    const { brand: second } = await story.brand('Second')
    await using events = await graph.subscribe(statusChanged, { brandId: brand.id, threadId: first.threadId }, { as: owner })
    const write = async (input: object) =>
      (await graph.execute(createPost, { input: { platform: 'X', copy: 'x', ...input } }, { as: owner })).data().createPost.id
    await write({ brandId: second.id })
    await write({ brandId: brand.id })
    const inThread = await write({ brandId: brand.id, threadId: first.threadId })
    expect((await events.next()).postStatusChanged.id).toBe(inThread)
    expect(events.events).toHaveLength(1)
  })

  test('is rejected for a viewer who may not see the brand', async () => {
    const graph = await open()
    const { outsider, key, brand, owner } = await graph.seed.owner().outsider().key('publishing:dashboard.read').brand()
    ;(await graph.refusedSubscription(statusChanged, { brandId: brand.id }, { as: outsider })).refused('NOT_FOUND')
    ;(await graph.refusedSubscription(statusChanged, { brandId: newId() }, { as: owner })).refused('NOT_FOUND')
    ;(await graph.refusedSubscription(statusChanged, { brandId: 'nonsense' }, { as: owner })).refused('BAD_USER_INPUT')
    ;(await graph.refusedSubscription(statusChanged, { brandId: brand.id, threadId: 'nonsense' }, { as: owner })).refused('BAD_USER_INPUT')
    for (const as of [key, undefined])
      (await graph.refusedSubscription(statusChanged, { brandId: brand.id }, as ? { as } : {})).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(graph.listeners()).toBe(0)
  })

  test('shows no brand that has moved to another organization', async () => {
    const graph = await open()
    const { owner, brand, post } = await graph.seed.owner().brand().post()
    await using events = await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner })
    await graph.rows('update publishing.brands set organization_id = $1', [newId()])
    graph.job.events.announce(`publishing.post-status.${brand.id}`, { postId: post.id, threadId: post.threadId })
    await vi.waitFor(() => expect(events.events).toEqual([{ data: { postStatusChanged: null } }]), 10_000)
  })
})

describe('L-02 widgetUpdated', () => {
  /** The same viewer, who sees the widget of publishing and of no other app. */
  const atPublishing = (viewer: Viewer): Viewer => ({ ...viewer, scopes: ['launcher:widgets.read', 'publishing:dashboard.read'] })
  const figures = ({ widgetUpdated }: Record<string, { payload: { statistics: { key: string; value: number }[] } }>) =>
    Object.fromEntries(widgetUpdated!.payload.statistics.map(({ key, value }) => [key, value]))

  test('delivers the present widgets first, and then each change within a second', async () => {
    const graph = await open({ sandbox: true })
    const { owner, brand, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(1000), copy: 'Next' })
    await using events = await graph.subscribe(widgetUpdated, {}, { as: atPublishing(owner) })
    const first = await events.next()
    expect(first.widgetUpdated).toMatchObject({ app: 'publishing', title: 'Publishing', payload: { items: [{ title: 'Next' }] } })
    expect(figures(first)).toEqual({ scheduledToday: 1, failed: 0, publishedThisWeek: 0 })
    await graph.clock.advance(1000)
    const began = performance.now()
    await deliver(graph.job, { brandId: brand.id, postId: post.id })
    const second = await events.next()
    expect([figures(second), second.widgetUpdated.payload.items]).toEqual([{ scheduledToday: 0, failed: 1, publishedThisWeek: 0 }, []])
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('combines many changes into one event', async () => {
    const graph = await open({ sandbox: true })
    const { owner, brand } = await graph.seed.owner().brand()
    await using events = await graph.subscribe(widgetUpdated, {}, { as: atPublishing(owner) })
    await events.next()
    const input = { brandId: brand.id, platform: 'X', copy: 'x', scheduledAt: graph.clock.soon() }
    const began = performance.now()
    await Promise.all(Array.from({ length: 10 }, () => graph.execute(createPost, { input }, { as: owner })))
    await events.next(data => figures(data).scheduledToday === 10)
    const windows = Math.ceil((performance.now() - began) / gatherMs)
    await quiet()
    // The widget of the beginning, and one for each span in which changes are gathered: a busy machine needs several for ten posts.
    expect(events.events.length).toBeLessThanOrEqual(1 + windows)
  })

  test('sends nothing when a change leaves the widget the same', async () => {
    const graph = await open()
    const { owner, post } = await graph.seed.owner().brand().post()
    await using events = await graph.subscribe(widgetUpdated, {}, { as: atPublishing(owner) })
    await events.next()
    const statements = await graph.statements(async () => {
      await graph.execute(updatePost, { input: { id: post.id, copy: 'Other' } }, { as: owner })
      await quiet()
    })
    expect(
      statements.some(text => text.includes('scheduledToday')),
      'it was read again',
    ).toBe(true)
    expect(events.events).toHaveLength(1)
  })

  test('receives nothing of other organizations', async () => {
    const graph = await open()
    const { owner, outsider, brand } = await graph.seed.owner().outsider().brand()
    await using events = await graph.subscribe(widgetUpdated, {}, { as: atPublishing(outsider) })
    expect(figures(await events.next())).toEqual({ scheduledToday: 0, failed: 0, publishedThisWeek: 0 })
    const statements = await graph.statements(async () => {
      await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'x' } }, { as: owner })
      await quiet()
    })
    expect(statements.some(text => text.includes('scheduledToday'))).toBe(false)
    expect(events.events).toHaveLength(1)
  })

  test('is rejected without the scope, and empty without the app’s own', async () => {
    const graph = await open()
    const { key } = await graph.seed.owner().key('launcher:widgets.read')
    ;(await graph.refusedSubscription(widgetUpdated)).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    ;(await graph.refusedSubscription(widgetUpdated, {}, { as: { ...key, scopes: ['publishing:dashboard.read'] } })).refused('UNAUTHORIZED_FIELD_OR_TYPE')
    expect(graph.listeners()).toBe(0)
    await using events = await graph.subscribe(widgetUpdated, {}, { as: key })
    await quiet()
    expect(events.events).toEqual([])
  })

  test('shows an overview without an error while the app cannot be reached, and the widget once it can', async () => {
    const graph = await open()
    const { owner, brand } = await graph.seed.owner().brand()
    await graph.rows('alter table publishing.posts rename to posts_away')
    await using events = await graph.subscribe(widgetUpdated, {}, { as: atPublishing(owner) })
    await vi.waitFor(() => expect(events.events).toHaveLength(1), 10_000)
    expect(events.events[0]).toEqual({ data: { widgetUpdated: expect.objectContaining({ app: 'publishing', payload: null }) } })
    await graph.rows('alter table publishing.posts_away rename to posts')
    await graph.execute(createPost, { input: { brandId: brand.id, platform: 'X', copy: 'x' } }, { as: owner })
    await events.next(({ widgetUpdated: widget }) => widget.payload !== null)
  })
})

describe('S-04 no listener remains', () => {
  test('after unsubscribing: at once, before any further event', async () => {
    const graph = await open()
    const { owner, brand } = await graph.seed.owner().brand()
    const events = [
      await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner }),
      await graph.subscribe(statusChanged, { brandId: brand.id }, { as: owner }),
      await graph.subscribe(widgetUpdated, {}, { as: owner }),
    ]
    expect(graph.listeners()).toBeGreaterThanOrEqual(2)
    for (const each of events) await each.end()
    await vi.waitFor(() => expect(graph.listeners()).toBe(0), 10_000)
  })

  test('after unsubscribing at once, before the first event came', async () => {
    const graph = await open()
    const { owner } = await graph.seed.owner().brand()
    for (let times = 0; times < 5; times += 1) await (await graph.subscribe(widgetUpdated, {}, { as: owner })).end()
    await vi.waitFor(() => expect(graph.listeners()).toBe(0), 10_000)
  })
})
