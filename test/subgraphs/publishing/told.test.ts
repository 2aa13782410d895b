import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { conclude } from '../../../subgraphs/publishing/delivery/conclude.ts'
import { widgetTopic } from '../../../subgraphs/widget-topic.ts'
import { type Supergraph, supergraph } from '../../kit/supergraph.ts'
import { round, stored, texts, wake } from './delivering.ts'
import { resolveDelivery } from './documents.ts'

/** A post that is due now, and everything it needs. */
const begin = async () => {
  const graph = await supergraph({ sandbox: true })
  const told = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(60_000) })
  await graph.clock.advance(60_000)
  return { graph, ...told }
}

/** Whether the organization's screens are told that what they count has changed, while something is done. */
async function tells(graph: Supergraph, { id }: { id: string }, work: () => Promise<unknown>): Promise<boolean> {
  const stream = graph.room.events.listen([widgetTopic('publishing', id)])
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
const attempts = (graph: Supergraph) =>
  graph.rows(
    'select number, outcome, detail, refusal, platform_post_id, reconciled, reconcile_at, started_at, finished_at, updated_at from publishing.attempts order by number',
  )

describe('P-09 the end of an attempt', () => {
  test('delivered: screens, the record and the attempt say by which id, and nothing is left to ask', async () => {
    const { graph, organization, post } = await begin()
    await using _ = graph
    const now = graph.clock.now()
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    const id = (await graph.x.published())[0]!.id
    expect(await stored(graph, post)).toMatchObject({ version: post.version + 1, updatedAt: now, claimId: null, claimUntil: null })
    const entry = { actor: 'delivery', action: 'post.published', subject_id: post.id, at: now }
    expect((await audit(graph)).at(-1)).toEqual({ ...entry, details: { attempt: 1, platformPostId: id, code: null } })
    const times = { started_at: now, finished_at: now, updated_at: now }
    expect(await attempts(graph)).toEqual([
      { number: 1, outcome: 'DELIVERED', detail: null, refusal: null, platform_post_id: id, reconciled: 0, reconcile_at: null, ...times },
    ])
  })

  test('refused: they say with which code and in which words of the network, and nothing is left to ask', async () => {
    const { graph, organization, post } = await begin()
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

  test('unknown: the network is asked a second later, and no refusal is made up', async () => {
    const { graph, organization, post } = await begin()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 500 })
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    expect(await attempts(graph)).toMatchObject([
      { outcome: 'UNKNOWN', detail: expect.stringMatching(/\w/), refusal: null, platform_post_id: null, reconcile_at: graph.clock.in(1_000) },
    ])
    expect((await audit(graph)).at(-1)).toMatchObject({ action: 'post.failed', details: { code: 'OUTCOME_UNKNOWN' } })
  })

  test('not there, as delivery or a person finds out: the record names who, and the time when the call ended stays', async () => {
    for (const person of [false, true]) {
      const { graph, organization, owner, post } = await begin()
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

  test('of a post that is deleted since concerns nobody: nothing is asked or written', async () => {
    const { graph, post } = await begin()
    await using _ = graph
    await wake(graph, post)
    const attempt = (await graph.room.deliveries.lastAttempt(post))!
    const statements = await graph.statements(async () =>
      expect(
        await conclude(graph.room, { ...attempt, postId: null }, { outcome: 'delivered', platformPostId: '1', permalink: 'https://x.com/a/status/1' }),
      ).toBe(null),
    )
    expect(statements).toEqual([])
  })
})

describe('P-09 a post that is not sent', () => {
  test('for want of a connection: screens are told, and its row says who may have it and since when', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { organization, post } = await graph.seed
      .owner()
      .brand()
      .post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    const now = graph.clock.now()
    expect(await tells(graph, organization, () => wake(graph, post))).toBe(true)
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', version: post.version + 1, updatedAt: now, claimId: null, claimUntil: null })
    expect((await audit(graph)).at(-1)).toEqual({ actor: 'delivery', action: 'post.failed', subject_id: post.id, details: { code: 'NO_CONNECTION' }, at: now })
  })

  test('because the network cannot be reached: screens and operators are told that it waits, and its attempt why', async () => {
    const { graph, organization, post } = await begin()
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
    expect([await texts(graph).catch(() => 'away'), waiting().length, (await stored(graph, post)).failureCode]).toEqual(['away', 1, 'NETWORK_UNAVAILABLE'])
  })
})
