import { describe, expect, test, vi } from 'vitest'
import { deliver } from '../../../../subgraphs/publishing/delivery/deliver.ts'
import { claimMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { disconnected } from '../../../../subgraphs/publishing/stores/connection.ts'
import { inTransaction } from '../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import { deletePost, post as postDocument, reschedulePost, updatePost } from '../documents.ts'
import { renewals, round, scheduledPost, stored, texts, unrenewedPost, until, wake } from './delivering.ts'

describe('P-09 a post becomes published', () => {
  test('when the network has confirmed it, with the network’s id, its address and the moment', async () => {
    const { graph, owner, post, connection } = await scheduledPost({ copy: 'Hello & <world>' })
    await using _ = graph
    await graph.clock.advance(60_000)
    await wake(graph, post)
    const [published] = await graph.x.published()
    expect(published).toMatchObject({ text: 'Hello & <world>' })
    expect((await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post).toMatchObject({
      status: 'PUBLISHED',
      deliveryPhase: 'NONE',
      platformPostId: published!.id,
      permalink: `https://x.com/${graph.x.demo.account.username}/status/${published!.id}`,
      publishedAt: graph.clock.now().toISOString(),
      failure: null,
      connection: { id: connection.id },
    })
    expect(await graph.rows('select number, outcome, platform_post_id, copy from publishing.attempts')).toEqual([
      { number: 1, outcome: 'DELIVERED', platform_post_id: published!.id, copy: 'Hello & <world>' },
    ])
    expect(await graph.rows(`select actor, action from publishing.audit_entries where action = 'post.published'`)).toEqual([
      { actor: 'delivery', action: 'post.published' },
    ])
  })

  test('P-10 once, however many workers are woken, and however often', async () => {
    const { graph, post } = await scheduledPost()
    await using _ = graph
    await graph.clock.advance(60_000)
    await Promise.all([...Array.from({ length: 6 }, () => wake(graph, post)), round(graph), round(graph)])
    await wake(graph, post)
    await graph.clock.advance(30_000)
    await round(graph)
    expect(await texts(graph)).toEqual([post.copy])
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', attempts: 1 })
  })
})

describe('P-10 a claim', () => {
  test('excludes other workers until its end; a worker that is overtaken sends nothing', async () => {
    const { graph, post, holder } = await unrenewedPost()
    await using _ = graph
    const slow = wake(graph, post)
    const { claimId } = await until(graph, post, { deliveryPhase: 'CLAIMED' })
    await graph.clock.advance(claimMs - 1)
    // Not `wake`, which waits for the renewal: the database ends its wait for the row after five seconds.
    await deliver(graph.job, { brandId: post.brandId, postId: post.id })
    expect((await stored(graph, post)).claimId).toBe(claimId)
    await graph.clock.advance(1)
    const second = wake(graph, post)
    await vi.waitFor(async () => expect((await stored(graph, post)).claimId).not.toBe(claimId), 10_000)
    await holder.commit()
    await Promise.all([slow, second])
    expect([await texts(graph), await stored(graph, post)]).toMatchObject([[post.copy], { status: 'PUBLISHED', attempts: 1 }])
  })
})

describe('P-06 the row’s state at its time is sent', () => {
  test('an edited text beats the older wake-up', async () => {
    const { graph, owner, post } = await scheduledPost()
    await using _ = graph
    await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited' } }, { as: owner })
    await graph.clock.advance(60_000)
    await wake(graph, post)
    expect(await texts(graph)).toEqual(['Edited'])
  })

  test('a later time beats it too: nothing is sent early', async () => {
    const { graph, owner, post } = await scheduledPost()
    await using _ = graph
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(120_000) } }, { as: owner })
    await graph.clock.advance(119_999)
    await wake(graph, post)
    await round(graph)
    expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[], 'SCHEDULED'])
    await graph.clock.advance(1)
    await wake(graph, post)
    expect(await texts(graph)).toEqual([post.copy])
  })

  test('an early wake-up leaves the post as it is, also one that can never be sent', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(59_999)
    await wake(graph, post)
    expect(await stored(graph, post)).toEqual(post)
  })

  test('a reverted or deleted post is not sent', async () => {
    const { graph, owner, story, post: reverted } = await scheduledPost()
    await using _ = graph
    const { post: deleted } = await story.post({ scheduledAt: graph.clock.in(60_000) })
    await graph.execute(updatePost, { input: { id: reverted.id, scheduledAt: null } }, { as: owner })
    await graph.execute(deletePost, { input: { id: deleted.id } }, { as: owner })
    await graph.clock.advance(70_000)
    await Promise.all([wake(graph, reverted), wake(graph, deleted), round(graph)])
    expect(await texts(graph)).toEqual([])
  })

  test('an edit while a worker prepares the call takes the post away from it, and the edited text is sent once', async () => {
    const { graph, owner, post, holder } = await unrenewedPost()
    await using _ = graph
    await deliver(graph.job, { brandId: post.brandId, postId: post.id })
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'CLAIMED' })
    await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited in time' } }, { as: owner })
    await holder.commit()
    await Promise.all(graph.job.afterRenewals)
    expect([await texts(graph), (await stored(graph, post)).deliveryPhase]).toEqual([[], 'NONE'])
    await wake(graph, post)
    expect(await texts(graph)).toEqual(['Edited in time'])
  })

  test('an edit while the call is under way is CONFLICT', async () => {
    const { graph, owner, post } = await scheduledPost()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.x.arm({ fault: 'slow', delayMs: 700 })
    const delivery = wake(graph, post)
    await until(graph, post, { deliveryPhase: 'SENDING' })
    for (const [document, input] of [
      [updatePost, { id: post.id, copy: 'Too late' }],
      [updatePost, { id: post.id, scheduledAt: null }],
      [deletePost, { id: post.id }],
    ] as const)
      (await graph.execute(document, { input }, { as: owner })).refused('CONFLICT')
    await delivery
    expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[post.copy], 'PUBLISHED'])
  })
})

describe('P-08 a thread', () => {
  const thread = async () => {
    const graph = await supergraph({ sandbox: true })
    return {
      graph,
      ...(await graph.seed
        .owner()
        .brand()
        .connection()
        .thread(3, { scheduledAt: graph.clock.in(60_000) })),
    }
  }

  test('is sent in order, each post as a reply to the one before, whichever wakes up first', async () => {
    const { graph, thread: posts } = await thread()
    await using _ = graph
    await graph.clock.advance(60_000)
    for (const post of posts.toReversed()) await wake(graph, post)
    expect(await texts(graph)).toEqual([posts[0]!.copy])
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await graph.clock.advance(3_000)
      await round(graph)
    }
    const published = await graph.x.published()
    expect(published.map(({ text }) => text)).toEqual(posts.map(({ copy }) => copy))
    const rows = await Promise.all(posts.map(post => stored(graph, post)))
    expect(rows.map(({ platformPostId }) => platformPostId)).toEqual(published.map(({ id }) => id))
    expect(await graph.rows('select in_reply_to from publishing.attempts order by started_at')).toEqual(
      [null, published[0]!.id, published[1]!.id].map(id => ({ in_reply_to: id })),
    )
  })

  test('wakes up the next post as soon as the one before is published', async () => {
    const { graph, thread: posts } = await thread()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.rows('delete from publishing_jobs.job')
    await wake(graph, posts[0]!)
    expect(await graph.rows(`select data->>'postId' as id from publishing_jobs.job where state = 'created'`)).toEqual([{ id: posts[1]!.id }])
  })

  test('with a failed first post holds back the later ones, still scheduled, and each names the post that it waits for', async () => {
    const { graph, owner, thread: posts } = await thread()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.x.arm({ fault: 'status', status: 403 })
    await wake(graph, posts[0]!)
    expect(await stored(graph, posts[0]!)).toMatchObject({ status: 'FAILED' })
    await graph.clock.advance(10_000)
    await Promise.all([...posts.map(post => wake(graph, post)), round(graph)])
    expect(await texts(graph)).toEqual([])
    for (const [later, earlier] of [
      [posts[1]!, posts[0]!],
      [posts[2]!, posts[1]!],
    ] as const)
      expect((await graph.execute(postDocument, { id: later.id }, { as: owner })).data().post).toMatchObject({
        status: 'SCHEDULED',
        failure: null,
        waitsFor: { id: earlier.id },
      })
    await graph.execute(reschedulePost, { input: { id: posts[0]!.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    for (const post of posts) await wake(graph, post)
    expect(await texts(graph)).toEqual(posts.map(({ copy }) => copy))
  })

  test('that is held back, however long, does not keep the sweep from other posts', async () => {
    const graph = await supergraph({ sandbox: true })
    await using _ = graph
    const story = graph.seed
      .owner()
      .brand()
      .connection()
      .thread(22, { scheduledAt: graph.clock.in(60_000) })
    const { thread: held, post: other } = await story.post({ scheduledAt: graph.clock.in(61_000) })
    const failed = { status: 'FAILED' as const, failureCode: 'NETWORK_REFUSED', failureMessage: 'no', failedAt: graph.clock.now() }
    await inTransaction(graph.job, ({ transaction }) => graph.job.posts.update(held[0]!, failed, transaction))
    await graph.clock.advance(120_000)
    await round(graph)
    expect(await texts(graph)).toEqual([other.copy])
  })
})

describe('P-07 the connection for a post', () => {
  test('is the author’s own, although another was authorized later', async () => {
    const graph = await supergraph({ sandbox: true })
    await using _ = graph
    const story = graph.seed.owner().member().brand().connection()
    const { owner, member, connection: own } = await story
    await graph.clock.advance(1000)
    const scheduledAt = graph.clock.in(60_000)
    const { post } = await story.connection({ by: member, externalAccountId: '1' }).post({ by: owner, scheduledAt })
    await graph.clock.advance(60_000)
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', connectionId: own.id })
  })

  test('is another active one of the brand when the author has none, or an inactive one', async () => {
    const graph = await supergraph({ sandbox: true })
    await using _ = graph
    const story = graph.seed.owner().member().brand().connection()
    const { member, connection: shared } = await story
    const scheduledAt = graph.clock.in(60_000)
    const { post: without } = await story.post({ by: member, scheduledAt })
    const { connection: own, post: withInactive } = await story.connection({ by: member, externalAccountId: '1' }).post({ by: member, scheduledAt })
    await inTransaction(graph.job, ({ transaction }) => graph.job.connections.update(own, disconnected('gone'), transaction))
    await graph.clock.advance(60_000)
    for (const post of [without, withInactive]) {
      await wake(graph, post)
      expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', connectionId: shared.id })
    }
  })

  test('is missing: the post fails with its own code, without a network call', async () => {
    const graph = await supergraph({ sandbox: true })
    await using _ = graph
    const { owner, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, post)
    expect((await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post).toMatchObject({
      status: 'FAILED',
      platformPostId: null,
      failure: { code: 'NO_CONNECTION', attempts: 1, failedAt: graph.clock.now().toISOString() },
    })
    expect(graph.sent).toEqual([])
    expect(await graph.rows(`select actor, subject_id, details from publishing.audit_entries where action = 'post.failed'`)).toEqual([
      { actor: 'delivery', subject_id: post.id, details: { code: 'NO_CONNECTION' } },
    ])
  })
})

describe('P-09 a rejection by the network', () => {
  test.each([
    [{ fault: 'status', status: 400 }, 'CONTENT_REFUSED'],
    [{ fault: 'status', status: 403 }, 'NETWORK_REFUSED'],
    [{ fault: 'status', status: 404 }, 'NETWORK_REFUSED'],
    [{ fault: 'status', status: 429 }, 'RATE_LIMITED'],
  ])('%o fails the post with %s; rescheduled, it is published once and the failure is gone', async (fault, code) => {
    const { graph, owner, post } = await scheduledPost()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.x.arm(fault)
    await wake(graph, post)
    const failed = (await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post
    expect(failed).toMatchObject({
      status: 'FAILED',
      deliveryPhase: 'NONE',
      platformPostId: null,
      failure: { code, attempts: 1, failedAt: graph.clock.now().toISOString() },
    })
    if (code === 'RATE_LIMITED') expect(failed.failure.message).toContain(graph.clock.soon(900_000))
    await round(graph)
    expect(await texts(graph)).toEqual([])
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    if (code === 'RATE_LIMITED') {
      // The network has said until when it takes nothing: it is not asked before.
      expect((await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post).toMatchObject({ status: 'SCHEDULED', failure: null })
      expect(await texts(graph)).toEqual([])
      await graph.clock.advance(899_000)
      await wake(graph, post)
    }
    expect((await graph.execute(postDocument, { id: post.id }, { as: owner })).data().post).toMatchObject({ status: 'PUBLISHED', failure: null })
    expect(await texts(graph)).toEqual([post.copy])
    expect(await graph.rows('select number, outcome from publishing.attempts order by number')).toEqual([
      { number: 1, outcome: 'REFUSED' },
      { number: 2, outcome: 'DELIVERED' },
    ])
  })

  test('as a duplicate text has its own code', async () => {
    const { graph, story, post } = await scheduledPost({ copy: 'Twice' })
    await using _ = graph
    const { post: second } = await story.post({ copy: 'Twice', scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, post)
    await wake(graph, second)
    expect(await stored(graph, second)).toMatchObject({ status: 'FAILED', failureCode: 'DUPLICATE_CONTENT' })
    expect(await texts(graph)).toEqual(['Twice'])
  })
})

describe('P-14 credentials that X rejects', () => {
  test('are renewed once, and the post is sent once', async () => {
    const { graph, post } = await scheduledPost()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.x.arm({ fault: 'expired-token' })
    await wake(graph, post)
    expect([await stored(graph, post), await texts(graph), renewals(graph)]).toMatchObject([{ status: 'PUBLISHED', attempts: 1 }, [post.copy], 1])
  })

  test('and are refused again after that: the post fails, and nothing is tried a third time', async () => {
    const { graph, post } = await scheduledPost()
    await using _ = graph
    await graph.clock.advance(60_000)
    await graph.x.arm({ fault: 'expired-token', times: 2 })
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', failureCode: 'CONNECTION_EXPIRED' })
    expect([await texts(graph), renewals(graph)]).toEqual([[], 1])
  })
})
