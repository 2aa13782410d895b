import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { conclude, releaseForRetry } from '../../../../subgraphs/publishing/delivery/conclude.ts'
import { widgetTopic } from '../../../../subgraphs/subgraph.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { resolveDelivery } from '../documents.ts'
import { attempts, duePost, logged, round, stored, wake } from './delivering.ts'

/** Whether the organization's screens are told that what they count has changed, while something is done. */
async function tells(graph: Supergraph, { id }: { id: string }, work: () => Promise<unknown>): Promise<boolean> {
  const stream = graph.job.events.listen([widgetTopic('publishing', id)])
  let heard = false
  void stream.next().then(({ done }) => {
    heard ||= !done
  })
  await work()
  await turn()
  await stream.return()
  return heard
}

const audit = (graph: Supergraph) => graph.rows('select actor, action, subject_id, details, at from publishing.audit_entries order by at, id')

describe('P-09 the result of an attempt', () => {
  test('delivered: events, audit entry and attempt have the network’s id, and nothing stays open', async () => {
    const { graph, organization, post } = await duePost()
    await using _ = graph
    const now = graph.clock.now()
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    const id = (await graph.x.published())[0]!.id
    expect(await stored(graph, post)).toMatchObject({ version: post.version + 1, updatedAt: now, claimId: null, claimUntil: null })
    const entry = { actor: 'delivery', action: 'post.published', subject_id: post.id, at: now }
    expect((await audit(graph)).at(-1)).toEqual({ ...entry, details: { attempt: 1, platformPostId: id, code: null } })
    const times = { started_at: now, finished_at: now, updated_at: now }
    expect(await attempts(graph)).toMatchObject([
      { number: 1, outcome: 'DELIVERED', detail: null, refusal: null, platform_post_id: id, reconciled: 0, reconcile_at: null, ...times },
    ])
  })

  test('rejected: they have the code and the network’s message, and nothing stays open', async () => {
    const { graph, organization, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 403 })
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    expect((await audit(graph)).at(-1)).toMatchObject({
      actor: 'delivery',
      action: 'post.failed',
      details: { attempt: 1, platformPostId: null, code: 'NETWORK_REFUSED' },
    })
    const failed = await stored(graph, post)
    const [attempt] = (await attempts(graph)) as [{ detail: string }]
    expect(attempt).toMatchObject({ outcome: 'REFUSED', refusal: 'NETWORK_REFUSED', platform_post_id: null, reconcile_at: null })
    expect(failed.failureMessage).toContain(attempt.detail)
  })

  test('unknown: the network is asked a second later, and no rejection is invented', async () => {
    const { graph, organization, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 500 })
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    expect(await attempts(graph)).toMatchObject([
      { outcome: 'UNKNOWN', detail: expect.stringMatching(/\w/), refusal: null, platform_post_id: null, reconcile_at: graph.clock.in(1_000) },
    ])
    expect((await audit(graph)).at(-1)).toMatchObject({ action: 'post.failed', details: { code: 'OUTCOME_UNKNOWN' } })
  })

  test('not published, as found by delivery or a person: the audit entry names who, and the call’s end time stays', async () => {
    for (const person of [false, true]) {
      const { graph, organization, owner, post } = await duePost()
      await using _ = graph
      await graph.x.arm({ fault: 'status', status: 500 })
      await wake(graph, post)
      const ended = graph.clock.now()
      const before = await stored(graph, post)
      await graph.clock.advance(120_000)
      const now = graph.clock.now()
      const end = () => (person ? graph.execute(resolveDelivery, { input: { id: post.id, platformPostId: null } }, { as: owner }) : round(graph))
      expect(await tells(graph, organization, end)).toBe(true)
      expect((await audit(graph)).at(-1)).toEqual({
        actor: person ? `user:${owner.userId}` : 'delivery',
        action: 'post.not-delivered',
        subject_id: post.id,
        details: { attempt: 1 },
        at: now,
      })
      expect(await attempts(graph)).toMatchObject([{ outcome: 'NOT_DELIVERED', finished_at: ended, reconcile_at: null, updated_at: now }])
      expect(await stored(graph, post)).toMatchObject({ failureCode: 'NOT_DELIVERED', failedAt: now, updatedAt: now, version: before.version + 1 })
    }
  })

  test('of a post deleted since is ignored: nothing is asked or written', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    await wake(graph, post)
    const attempt = (await graph.job.attempts.lastAttempt(post))!
    const statements = await graph.statements(async () =>
      expect(
        await conclude(graph.job, { ...attempt, postId: null }, { outcome: 'delivered', platformPostId: '1', permalink: 'https://x.com/a/status/1' }),
      ).toBe(null),
    )
    expect(statements).toEqual([])
  })
})

describe('P-10 an answer after the attempt has ended', () => {
  const delivered = { outcome: 'delivered', platformPostId: '77', permalink: 'https://x.com/a/status/77' } as const
  const warned = (graph: Supergraph) => logged(graph, 40).filter(({ level, postId }) => level === 40 && postId)

  test('is recorded when the network reports the post as delivered, and otherwise ignored; a contradiction is logged', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 403 })
    await wake(graph, post)
    const attempt = (await graph.job.attempts.lastAttempt(post))!
    const failed = await stored(graph, post)
    expect(await conclude(graph.job, attempt, { outcome: 'refused', code: 'RATE_LIMITED', detail: 'later' })).toBe(null)
    expect(await conclude(graph.job, attempt, { outcome: 'unknown', detail: 'no answer' })).toBe(null)
    expect(await conclude(graph.platform.publishing.job('user:somebody'), attempt, delivered)).toBe(null)
    expect(await stored(graph, post)).toEqual(failed)
    expect(await conclude(graph.job, attempt, delivered)).toMatchObject({ status: 'PUBLISHED', platformPostId: '77' })
    expect([await attempts(graph), warned(graph)]).toMatchObject([[{ outcome: 'DELIVERED', detail: null, refusal: null, platform_post_id: '77' }], []])
    expect(await conclude(graph.job, attempt, delivered)).toBe(null)
    await graph.rows('delete from publishing.posts')
    expect(await conclude(graph.job, attempt, delivered)).toBe(null)
    const line = { postId: post.id, attempt: 1, platformPostId: '77' }
    expect(warned(graph)).toMatchObject([line, line])
  })

  test('is accepted from a person while the outcome is unknown; the network’s message stays until then', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 500 })
    await wake(graph, post)
    const attempt = (await graph.job.attempts.lastAttempt(post))!
    await conclude(graph.job, attempt, { outcome: 'unknown', refusal: 'DUPLICATE_CONTENT', detail: 'it has the text' })
    expect(await attempts(graph)).toMatchObject([{ outcome: 'UNKNOWN', refusal: 'DUPLICATE_CONTENT', detail: 'it has the text' }])
    expect(await conclude(graph.platform.publishing.job('user:somebody'), attempt, delivered)).toMatchObject({ status: 'PUBLISHED' })
    expect(await attempts(graph)).toMatchObject([{ outcome: 'DELIVERED', refusal: null, detail: null }])
  })
})

describe('P-09 an unsent post', () => {
  test('because nothing could be prepared waits without an attempt', async () => {
    await using graph = await supergraph()
    const claim = { deliveryPhase: 'CLAIMED' as const, claimId: newId(), claimUntil: graph.clock.in(10_000) }
    const { post } = await graph.seed
      .owner()
      .brand()
      .post({ row: { status: 'SCHEDULED', scheduledAt: graph.clock.now(), ...claim } })
    await releaseForRetry(graph.job, post, null, 'away')
    expect([await stored(graph, post), await attempts(graph)]).toMatchObject([{ status: 'SCHEDULED', deliveryPhase: 'NONE', waits: 1, attempts: 0 }, []])
  })

  test('without a connection: subscribers are notified, and its row says who may connect and since when it waits', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { organization, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    const now = graph.clock.now()
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    expect(await stored(graph, post)).toMatchObject({
      status: 'FAILED',
      version: post.version + 1,
      updatedAt: now,
      claimId: null,
      claimUntil: null,
      attempts: 1,
    })
    expect((await audit(graph)).at(-1)).toEqual({ actor: 'delivery', action: 'post.failed', subject_id: post.id, details: { code: 'NO_CONNECTION' }, at: now })
  })

  test('of an unreachable network: subscribers and the log learn that it waits, and its attempt says why', async () => {
    const { graph, organization, post } = await duePost()
    await using _ = graph
    await using _away = await graph.x.away()
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    const now = graph.clock.now()
    expect(await attempts(graph)).toMatchObject([{ outcome: 'NOT_SENT', detail: expect.stringMatching(/\w/), finished_at: now, updated_at: now }])
    expect(await stored(graph, post)).toMatchObject({ version: post.version, claimId: null, claimUntil: null })
    const waiting = () => graph.log.filter(line => line.includes('waitsUntil')).map(line => JSON.parse(line))
    expect(waiting()).toMatchObject([{ level: 40, postId: post.id, waitsUntil: graph.clock.soon(5_000) }])
    // When the hour is over it fails, which is no waiting.
    await graph.rows('update publishing.posts set waiting_since = $1', [graph.clock.in(-3_600_000)])
    await graph.clock.advance(5_000)
    await wake(graph, post)
    expect([waiting().length, await stored(graph, post)]).toMatchObject([1, { failureCode: 'NETWORK_UNAVAILABLE', attempts: 1 }])
  })
})
