import { describe, expect, test } from 'vitest'
import { deletePost, reschedulePost, resolveDelivery, updatePost } from '../../documents.ts'
import { answeredPost, round, stored, texts, wake } from '../delivering.ts'

const published = { fault: 'accept-then-reset' }
const absent = { fault: 'status', status: 500 }
const open = { status: 'FAILED', deliveryPhase: 'UNKNOWN', platformPostId: null, failure: { code: 'OUTCOME_UNKNOWN' } }

describe('P-10 an unknown outcome', () => {
  test.each([
    ['the connection was cut after X accepted', published, 1],
    ['X answered 500', absent, 0],
    ['X answered 502', { fault: 'status', status: 502 }, 0],
  ])('%s: the post is failed and open, and is not sent again by anybody', async (_what, fault, there) => {
    const { graph, read, post } = await answeredPost(fault)
    await using _ = graph
    expect(await read()).toMatchObject(open)
    await Promise.all([wake(graph, post), wake(graph, post)])
    expect(await texts(graph)).toHaveLength(there)
  })

  test('prevents rescheduling, reverting, editing and deleting the post', async () => {
    const { graph, owner, post, read } = await answeredPost(absent)
    await using _ = graph
    const { id } = post
    for (const [document, input] of [
      [reschedulePost, { id, scheduledAt: graph.clock.soon() }],
      [updatePost, { id, scheduledAt: null }],
      [updatePost, { id, copy: 'Other' }],
      [deletePost, { id }],
    ] as const)
      expect((await graph.execute(document, { input }, { as: owner })).refused('CONFLICT').message).toContain('resolveDelivery')
    expect(await read()).toMatchObject(open)
  })

  test('is found among the account’s own posts at X: published, with its id, sent once', async () => {
    const { graph, post, read } = await answeredPost(published)
    await using _ = graph
    await round(graph)
    expect(await read(), 'not asked before a second has passed').toMatchObject(open)
    await graph.clock.advance(1000)
    await Promise.all([round(graph), round(graph)])
    const [one] = await graph.x.published()
    expect(await read()).toMatchObject({ status: 'PUBLISHED', deliveryPhase: 'NONE', platformPostId: one!.id, failure: null })
    expect(await texts(graph)).toEqual([post.copy])
    expect(
      graph.sent.filter(call => call.startsWith('GET /x/2/users/')),
      'two workers ask once',
    ).toHaveLength(1)
    expect(await graph.rows('select number, outcome, reconciled from publishing.attempts')).toEqual([{ number: 1, outcome: 'DELIVERED', reconciled: 1 }])
  })

  test('of a call without an answer is resolved the same way', async () => {
    const { graph, post, read } = await answeredPost({ fault: 'timeout-after-accept' })
    await using _ = graph
    expect(await read()).toMatchObject(open)
    await graph.clock.advance(1000)
    await round(graph)
    expect([(await read()).status, await texts(graph)]).toEqual(['PUBLISHED', [post.copy]])
  })

  test('is found later when X lists its posts late', async () => {
    const { graph, read } = await answeredPost(published)
    await using _ = graph
    await graph.x.arm({ fault: 'listing-lag', delayMs: 60_000, times: 100 })
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await graph.clock.advance(5_000)
      await round(graph)
    }
    expect(await read()).toMatchObject(open)
    await graph.clock.advance(60_000)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'PUBLISHED' })
  })

  test('counts as not published after X has not listed it for two minutes; then the post can be rescheduled and is sent once', async () => {
    const { graph, owner, post, read } = await answeredPost(absent)
    await using _ = graph
    const asks = () => graph.sent.filter(call => call.startsWith('GET /x/2/users/')).length
    for (let seconds = 0; seconds < 119; seconds += 7) {
      await graph.clock.advance(7_000)
      await round(graph)
      if (seconds + 7 < 120) expect(await read()).toMatchObject(open)
    }
    expect(asks(), 'sooner at first, then ever less often').toBeLessThan(9)
    await graph.clock.advance(300_000)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'FAILED', deliveryPhase: 'NONE', platformPostId: null, failure: { code: 'NOT_DELIVERED' } })
    expect(await graph.rows('select outcome from publishing.attempts')).toEqual([{ outcome: 'NOT_DELIVERED' }])
    await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(1000) } }, { as: owner })
    await graph.clock.advance(1000)
    await wake(graph, post)
    expect([await texts(graph), (await stored(graph, post)).attempts]).toEqual([[post.copy], 2])
  })

  test('stays unknown while X is unavailable, and X is asked again', async () => {
    const { graph, read } = await answeredPost(published)
    await using _ = graph
    await graph.x.arm({ fault: 'expired-token', times: 3 })
    await graph.clock.advance(1000)
    await round(graph)
    expect(await read()).toMatchObject(open)
    await graph.x.arm()
    await graph.clock.advance(300_000)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'PUBLISHED' })
  })

  test('is resolved although the clock was set back by an hour since', async () => {
    const { graph, read } = await answeredPost(published)
    await using _ = graph
    await graph.clock.advance(-3_600_000)
    await round(graph)
    expect(await read()).toMatchObject({ status: 'PUBLISHED' })
  })

  test('is not resolved by a post with the same text that belongs to another attempt', async () => {
    const { graph, story, owner, post, read } = await answeredPost({ fault: 'status', status: 500 })
    await using _ = graph
    await graph.clock.advance(100)
    const { post: twin } = await story.post({ copy: post.copy, scheduledAt: graph.clock.in(500) })
    await graph.clock.advance(500)
    await wake(graph, twin)
    const [one] = await graph.x.published()
    expect(await stored(graph, twin)).toMatchObject({ status: 'PUBLISHED', platformPostId: one!.id })
    await graph.clock.advance(5_000)
    await round(graph)
    expect(await read()).toMatchObject(open)
    const answer = await graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: one!.id } }, { as: owner })
    expect(answer.refused('CONFLICT').extensions.field).toBe('platformPostId')
  })
})
