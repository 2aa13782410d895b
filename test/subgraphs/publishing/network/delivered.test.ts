import { describe, expect, test } from 'vitest'
import { reconcile } from '../../../../subgraphs/publishing/delivery/reconcile.ts'
import type { Platform } from '../../../../subgraphs/publishing/network/network.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { stored, wake } from '../delivery/delivering.ts'
import { post as postDocument, resolveDelivery } from '../documents.ts'

/** A brand that is connected at a network, with a post that is due now. */
async function due(platform: Platform) {
  const graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner().brand().connection({ platform })
  const seeded = await story.post({ platform, copy: 'All (of) @it #1 [kept] {too}', scheduledAt: graph.clock.in(60_000) })
  await graph.clock.advance(60_000)
  const { owner, post } = seeded
  const read = async () => (await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post
  return { ...seeded, graph, story, read, twin: graph.x.at(platform) }
}

describe.each(['LINKEDIN', 'LINKEDIN_PAGE'] as const)('P-14 P-09 a post for %s', platform => {
  test('is there once and carries the network’s own id and address', async () => {
    const { graph, post, read, twin, connection } = await due(platform)
    await using _ = graph
    await wake(graph, post)
    await wake(graph, post)
    const [received, ...others] = await twin.published()
    expect(others).toEqual([])
    expect(await read()).toMatchObject({
      status: 'PUBLISHED',
      platformPostId: received!.id,
      permalink: `https://www.linkedin.com/feed/update/${received!.id}`,
      failure: null,
    })
    expect(received!.text).toBe(post.copy)
    const [place] = connection.targets
    expect(received!.target).toEqual(place && { kind: 'organization', id: place.externalId })
  })

  test('fails with what the network says', async () => {
    const { graph, post, read, twin } = await due(platform)
    await using _ = graph
    await twin.arm({ fault: 'status', status: 422 })
    await wake(graph, post)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', failure: { code: 'DUPLICATE_CONTENT' } })
    expect(await twin.published()).toEqual([])
  })
})

describe('P-10 an outcome that nobody knows', () => {
  test('of a person stays open, is never asked for, and a person ends it', async () => {
    const { graph, owner, post, read, twin } = await due('LINKEDIN')
    await using _ = graph
    await twin.arm({ fault: 'accept-then-reset' })
    await wake(graph, post)
    const before = graph.sent.length
    await graph.clock.advance(3_600_000)
    await reconcile(graph.job, { brandId: post.brandId, postId: post.id })
    expect(graph.sent.slice(before)).toEqual([])
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failure: { code: 'OUTCOME_UNKNOWN' } })
    const [{ id } = { id: '' }] = await twin.published()
    const ended = await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: id } }, { as: owner })
    expect(ended.data().resolveDelivery).toMatchObject({ status: 'PUBLISHED', platformPostId: id, permalink: `https://www.linkedin.com/feed/update/${id}` })
  })

  test('of a page is found in what the page lists', async () => {
    const { graph, post, read, twin } = await due('LINKEDIN_PAGE')
    await using _ = graph
    await twin.arm({ fault: 'accept-then-reset' })
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'UNKNOWN' })
    await graph.clock.advance(2_000)
    await reconcile(graph.job, { brandId: post.brandId, postId: post.id })
    const published = await twin.published()
    expect([await read(), published]).toMatchObject([{ status: 'PUBLISHED', platformPostId: published[0]!.id }, [{}]])
  })
})

test('P-08 a thread of a page goes on in comments under its first post, which has its own', async () => {
  const { graph, story, post, twin } = await due('LINKEDIN_PAGE')
  await using _ = graph
  const { threadId } = post
  const { post: second } = await story.post({ platform: 'LINKEDIN_PAGE', copy: 'Second', threadId, scheduledAt: graph.clock.in(60_000) })
  const { post: third } = await story.post({ platform: 'LINKEDIN_PAGE', copy: 'Third', threadId, scheduledAt: graph.clock.in(60_000) })
  await graph.clock.advance(60_000)
  for (const each of [third, second, post, second, third]) await wake(graph, each)
  const published = await twin.published()
  const root = published[0]!.id
  expect(published.map(({ text, inReplyToId }) => [text, inReplyToId])).toEqual([
    [post.copy, null],
    ['Second', root],
    ['Third', root],
  ])
})
