import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sendComment } from '../../../../subgraphs/publishing/delivery/comment.ts'
import { reconcile } from '../../../../subgraphs/publishing/delivery/reconcile.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import { shared } from '../../../kit/shared.ts'
import { seedConnection } from '../connection/seed.ts'
import { interrupt, round, wake } from '../delivery/delivering.ts'
import { post as postDocument, resolveDelivery } from '../documents.ts'
import { mp4 } from '../media/files.ts'
import { mediaWorld } from '../media/world.ts'

const world = shared(() => mediaWorld({ sandbox: true }))
let count = 0

/** The brand, connected at a network, with a post of words of its own that is due in a minute. */
async function scheduled(platform: Platform, more: object = {}) {
  const { graph, owner, brand, mutate } = world()
  const connection = await seedConnection(graph, { brandId: brand.id, owner }, { platform })
  count += 1
  const copy = `All (of) @it #1 [kept] {too} ${count}`
  const { it, error } = await mutate(
    'createPost',
    { brandId: brand.id, platform, copy, scheduledAt: graph.clock.in(60_000).toISOString(), ...more },
    'id threadId',
  )
  if (error) throw new Error(JSON.stringify(error))
  const key = { brandId: brand.id, id: it.id as string, postId: it.id as string }
  const twin = graph.x.at(platform)
  return {
    ...{ graph, owner, connection, copy, key, twin, threadId: it.threadId as string },
    read: async () => (await graph.execute(postDocument, { id: it.id }, { as: owner })).data().post,
    /** What its network has of it. */
    published: async () => (await twin.published()).filter(({ text }) => text === copy),
  }
}

/** The same, and its time has come. */
async function due(platform: Platform, more: object = {}) {
  const made = await scheduled(platform, more)
  await made.graph.clock.advance(60_000)
  return made
}

/** A film of the brand. */
async function film() {
  const { begin, patch, ready } = world()
  count += 1
  const bytes = mp4({ padding: 300_000 + count, units: 4_000 })
  const { at } = await begin(bytes.length)
  const { id } = await ready((await patch(at, 0, bytes)).headers.get('x-media-asset-id')!)
  const received = { mimeType: 'video/mp4', bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  return { media: [{ assetId: id }], received }
}

describe.each(['LINKEDIN', 'LINKEDIN_PAGE'] as const)('P-14 P-09 a post for %s', platform => {
  test('is published once and has the network’s id and address', async () => {
    const { graph, key, read, published, connection } = await due(platform)
    await wake(graph, key)
    await wake(graph, key)
    const [received, ...others] = await published()
    const { id, target } = received!
    expect(others).toEqual([])
    expect(await read()).toMatchObject({ status: 'PUBLISHED', platformPostId: id, permalink: `https://www.linkedin.com/feed/update/${id}`, failure: null })
    const [place] = connection.targets
    expect(target).toEqual(place && { kind: 'organization', id: place.externalId })
  })

  test('fails with the network’s message', async () => {
    const { graph, key, read, twin, published } = await due(platform)
    await twin.arm({ fault: 'status', status: 422 })
    await wake(graph, key)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', failure: { code: 'DUPLICATE_CONTENT' } })
    expect(await published()).toEqual([])
  })
})

describe('P-10 an unknown outcome', () => {
  test('of a personal account stays open, is never asked about, and a person resolves it', async () => {
    const { graph, owner, key, read, twin, published } = await due('LINKEDIN')
    await twin.arm({ fault: 'accept-then-reset' })
    await wake(graph, key)
    const before = graph.sent.length
    await graph.clock.advance(3_600_000)
    await reconcile(graph.job, key)
    expect(graph.sent.slice(before).filter(call => call.includes('/linkedin/'))).toEqual([])
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } })
    const [{ id } = { id: '' }] = await published()
    const ended = await graph.execute(resolveDelivery, { input: { id: key.id, platformPostId: id } }, { as: owner })
    expect(ended.data().resolveDelivery).toMatchObject({ status: 'PUBLISHED', platformPostId: id, permalink: `https://www.linkedin.com/feed/update/${id}` })
  })

  test.each(['LINKEDIN_PAGE', 'TIKTOK'] as const)('of %s is found by what the network tells', async platform => {
    const { graph, key, read, twin, published } = await due(platform, platform === 'TIKTOK' ? { media: (await film()).media } : {})
    await twin.arm({ fault: 'accept-then-reset' })
    await wake(graph, key)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN' })
    await graph.clock.advance(2_000)
    await reconcile(graph.job, key)
    const found = await published()
    expect([await read(), found]).toMatchObject([{ status: 'PUBLISHED', platformPostId: found[0]!.id }, [{}]])
  })
})

test('P-08 a page’s thread continues in comments under its first post, which has its own', async () => {
  const { graph, key, copy, threadId, published, twin } = await scheduled('LINKEDIN_PAGE')
  const [second, third] = [await scheduled('LINKEDIN_PAGE', { threadId }), await scheduled('LINKEDIN_PAGE', { threadId })]
  await graph.clock.advance(60_000)
  for (const each of [third.key, second.key, key, second.key, third.key]) await wake(graph, each)
  const [{ id: root } = { id: '' }] = await published()
  expect((await twin.published()).slice(-3).map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
    [copy, null],
    [second.copy, root],
    [third.copy, root],
  ])
})

test('P-10 a call to a personal LinkedIn account interrupted by a crash must be resolved by a person at once', async () => {
  const { graph, key, connection, read } = await due('LINKEDIN')
  await interrupt({ graph, post: (await graph.job.posts.byId.load(key.id))!, connection })
  const before = graph.sent.length
  await graph.clock.advance(sendMs)
  await round(graph)
  await graph.clock.advance(600_000)
  await round(graph)
  expect(graph.sent.slice(before).filter(call => call.includes('/linkedin/'))).toEqual([])
  expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } })
})

test('P-13 the first comment of a page is sent once under its post, as the organization, in plain text', async () => {
  const text = 'More (here): https://example.com/a_b #now'
  const { graph, key, published, twin } = await due('LINKEDIN_PAGE', { firstComment: text })
  await wake(graph, key)
  await sendComment(graph.job, key)
  await sendComment(graph.job, key)
  const [post] = await published()
  expect((await twin.published()).filter(({ inReplyToId }) => inReplyToId === post!.id)).toMatchObject([{ text, target: post!.target }])
})

describe('P-14 a film', () => {
  test('for TikTok arrives whole and once, and carries the id of its upload', async () => {
    const { media, received } = await film()
    const { graph, key, read, published } = await due('TIKTOK', { media })
    await wake(graph, key)
    const found = await published()
    expect(found.map(each => each.media)).toEqual([[received]])
    expect(await read()).toMatchObject({ status: 'PUBLISHED', platformPostId: found[0]!.id, permalink: 'https://www.tiktok.com/@demo_brand' })
  })

  test('for LinkedIn is waited for while it is worked up', async () => {
    const { media, received } = await film()
    const { graph, key, read, twin, published } = await due('LINKEDIN', { media })
    await twin.arm({ fault: 'processing', delayMs: 20_000 })
    await wake(graph, key)
    expect([await read(), await published()]).toMatchObject([{ status: 'SCHEDULED' }, []])
    await graph.clock.advance(20_000)
    await wake(graph, key)
    expect([await read(), await published()]).toMatchObject([{ status: 'PUBLISHED' }, [{ media: [received] }]])
  })
})
