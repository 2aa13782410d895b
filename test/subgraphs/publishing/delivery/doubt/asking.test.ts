import { describe, expect, test } from 'vitest'
import { closeAsAbsent, reconcile } from '../../../../../subgraphs/publishing/delivery/reconcile.ts'
import { absentAfterMs, reconcileForMs } from '../../../../../subgraphs/publishing/delivery/rules.ts'
import { AccessExpired, type Network } from '../../../../../subgraphs/publishing/network/network.ts'
import type { Lookup } from '../../../../../subgraphs/publishing/network/publication.ts'
import { disconnected } from '../../../../../subgraphs/publishing/stores/connection.ts'
import type { Supergraph } from '../../../../kit/supergraph.ts'
import { answeredPost, logged, renewals, stored, wake } from '../delivering.ts'
import { publication } from '../publication.ts'

const absent: Lookup = { found: false, isAnothers: false }
const anothers: Lookup = { found: false, isAnothers: true }
const found: Lookup = { found: true, platformPostId: '77', permalink: 'https://x.com/demo/status/77' }

/** A post of unknown outcome, about which the network is to be asked now; what it answers is the test's. */
const begin = async () => {
  const seeded = await answeredPost({ fault: 'status', status: 500, times: 10 })
  const { graph } = seeded
  await graph.clock.advance(1_000)
  const asked: Parameters<Network['find']>[] = []
  const world = { answer: (): Lookup => absent }
  Object.assign(graph.job.networks.get('X')!, {
    find: async (...parameters: Parameters<Network['find']>) => {
      asked.push(parameters)
      return world.answer()
    },
  })
  const ask = () => reconcile(graph.job, seeded.key)
  const attempt = async () => (await graph.job.attempts.lastAttempt(seeded.post))!
  return { ...seeded, asked, world, ask, attempt }
}

const lines = (graph: Supergraph, least: number) => logged(graph, least).filter(({ postId }) => postId)
const fails = (error: unknown) => () => {
  throw error
}
const open = { status: 'FAILED', deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' }

describe('P-10 asking the network about a call', () => {
  test('names its account, text and place, and excludes ids of other posts since shortly before', async () => {
    const { graph, story, asked, ask, attempt, post, connection } = await begin()
    await using _ = graph
    const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
    const published = { status: 'PUBLISHED' as const, permalink: null, ...account }
    const { startedAt } = await attempt()
    const earlier = (milliseconds: number) => new Date(startedAt.getTime() - absentAfterMs - milliseconds)
    await story.post({ row: { ...published, platformPostId: '5', publishedAt: earlier(0) } })
    await story.post({ row: { ...published, platformPostId: '6', publishedAt: earlier(1) } })
    const target = { kind: 'GROUP', externalId: '9', name: null } as const
    await graph.rows('update publishing.posts set target = $1 where id = $2', [JSON.stringify(target), post.id])
    await ask()
    const sought = publication({
      accessToken: graph.job.connections.open(connection).accessToken,
      account: { externalId: connection.externalAccountId, name: connection.accountName },
      copy: post.copy,
      target,
      // What X was prepared for it: a text alone needs nothing.
      handle: { mediaIds: [], pending: [] },
    })
    expect(asked).toEqual([[sought, startedAt, new Set(['5'])]])
  })

  test('reaches back to the first open attempt with that text, and not to a later one', async () => {
    const { graph, story, asked, ask, attempt, post } = await begin()
    await using _ = graph
    const mine = await attempt()
    const { post: twin } = await story.post({ copy: post.copy, scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, twin)
    await ask()
    const earlier = graph.clock.in(-3_600_000)
    await graph.rows('update publishing.attempts set started_at = $1 where post_id = $2', [earlier, twin.id])
    await graph.clock.advance(300_000)
    await ask()
    expect(asked.map(([, since]) => since)).toEqual([mine.startedAt, earlier])
  })

  test('is repeated after 2, 4, 8 s, not before, and ends after a day: then a person decides', async () => {
    const { graph, asked, world, ask, attempt, post } = await begin()
    await using _ = graph
    world.answer = fails(new Error('the network does not answer'))
    for (const [times, pause] of [
      [1, 2_000],
      [2, 4_000],
      [3, 8_000],
    ] as const) {
      await ask()
      expect(await attempt()).toMatchObject({ reconciled: times, reconcileAt: graph.clock.in(pause), updatedAt: graph.clock.now() })
      await graph.clock.advance(pause - 1)
      await ask()
      expect(asked).toHaveLength(times)
      await graph.clock.advance(1)
    }
    const { startedAt } = await attempt()
    await graph.clock.advance(startedAt.getTime() + reconcileForMs - 1 - graph.clock.now().getTime())
    await ask()
    expect((await attempt()).reconcileAt).toEqual(graph.clock.in(16_000))
    await graph.rows('update publishing.attempts set reconcile_at = $1', [graph.clock.in(1)])
    await graph.clock.advance(1)
    await ask()
    expect((await attempt()).reconcileAt).toBe(null)
    await ask()
    expect([asked.length, await stored(graph, post)]).toMatchObject([5, open])
    expect(lines(graph, 40), 'each is told to operators').toHaveLength(5)
  })

  test('ends once the connection is inactive or its network unconfigured: that is reported, and the outcome stays unknown', async () => {
    const { graph, asked, ask, post, connection } = await begin()
    await using _ = graph
    const { networks, connections } = graph.job
    const x = networks.get('X')!
    ;(networks as Map<string, Network>).delete('X')
    await ask()
    ;(networks as Map<string, Network>).set('X', x)
    await graph.database.sequelize.transaction(transaction => connections.update(connection, disconnected('gone'), transaction))
    for (const gone of [false, true]) {
      if (gone) await graph.rows('delete from publishing.connections')
      await graph.clock.advance(300_000)
      await ask()
    }
    expect([asked, await stored(graph, post)]).toMatchObject([[], open])
    expect(lines(graph, 40).map(({ postId, err: { type } }) => [postId, type])).toEqual([1, 2, 3].map(() => [post.id, 'GrantFailure']))
  })

  test('is repeated with a new token when the network rejects the old one, and for no other reason', async () => {
    const { graph, asked, world, ask, post, connection } = await begin()
    await using _ = graph
    world.answer = fails(new Error('the network does not answer'))
    await ask()
    expect([asked.length, renewals(graph)]).toEqual([1, 0])
    world.answer = () => {
      if (asked.length === 2) throw new AccessExpired('X')
      return found
    }
    await graph.clock.advance(2_000)
    await ask()
    const { accessToken } = graph.job.connections.open(connection)
    expect([asked.map(([publication]) => publication.accessToken === accessToken), renewals(graph)]).toEqual([[true, true, false], 1])
    expect(await stored(graph, post)).toMatchObject({ status: 'PUBLISHED', platformPostId: '77', permalink: 'https://x.com/demo/status/77' })
  })

  test('does not happen for a post with a known outcome or a deleted one', async () => {
    const { graph, asked, world, ask, attempt, post } = await begin()
    await using _ = graph
    world.answer = () => found
    await ask()
    await graph.rows(`update publishing.attempts set outcome = 'UNKNOWN', platform_post_id = null, reconcile_at = $1`, [graph.clock.now()])
    await ask()
    expect([asked.length, (await attempt()).reconciled, (await stored(graph, post)).status]).toEqual([1, 1, 'PUBLISHED'])
    await graph.rows('delete from publishing.posts')
    await ask()
    expect(asked).toHaveLength(1)
  })
})

describe('P-10 the network’s answer', () => {
  test.each([
    ['not there, within two minutes', absent, null, absentAfterMs - 1, 'OUTCOME_UNKNOWN'],
    ['not there, after two minutes', absent, null, absentAfterMs, 'NOT_DELIVERED'],
    ['another’s, within two minutes', anothers, null, absentAfterMs - 1, 'OUTCOME_UNKNOWN'],
    ['another’s, after two minutes', anothers, null, absentAfterMs, 'NOT_DELIVERED'],
    ['not there, of what was called a duplicate, within two minutes', absent, 'DUPLICATE_CONTENT', absentAfterMs - 1, 'OUTCOME_UNKNOWN'],
    ['not there, of what was called a duplicate, after two minutes', absent, 'DUPLICATE_CONTENT', absentAfterMs, 'DUPLICATE_CONTENT'],
    ['another’s, of what was called a duplicate', anothers, 'DUPLICATE_CONTENT', 1_000, 'DUPLICATE_CONTENT'],
    ['another’s, of what was refused otherwise', anothers, 'RATE_LIMITED', 1_000, 'OUTCOME_UNKNOWN'],
  ] as const)('%s', async (_what, lookup, refusal, age, code) => {
    const { graph, world, ask, attempt, post } = await begin()
    await using _ = graph
    world.answer = () => lookup
    const { detail } = await attempt()
    await graph.rows('update publishing.attempts set refusal = $1, started_at = $2', [refusal, graph.clock.in(-age)])
    await ask()
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', failureCode: code, deliveryPhase: code === 'OUTCOME_UNKNOWN' ? 'UNKNOWN' : 'NONE' })
    expect((await attempt()).detail, 'what the network said of the call stays').toBe(detail)
  })

  test('"there", for a post that may be another attempt’s, concludes nothing; nor does an id that another post carries, and that is logged', async () => {
    const { graph, story, world, ask, post } = await begin()
    await using _ = graph
    world.answer = () => found
    const { post: rival } = await story.post({ copy: post.copy, scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, rival)
    await graph.rows('update publishing.attempts set started_at = $1 where post_id = $2', [graph.clock.in(-3_600_000), rival.id])
    await ask()
    expect([await stored(graph, post), lines(graph, 40).at(-1)]).toMatchObject([open, { postId: post.id }])
    await graph.clock.advance(1_000)
    await reconcile(graph.job, { brandId: rival.brandId, postId: rival.id })
    expect(await stored(graph, rival)).toMatchObject({ status: 'PUBLISHED', platformPostId: '77' })
    await graph.clock.advance(300_000)
    await ask()
    expect(await stored(graph, post)).toMatchObject(open)
    expect(lines(graph, 30).at(-1)).toMatchObject({ level: 30, postId: post.id, platformPostId: '77' })
  })

  test('"found" that the database cannot store fails with an error', async () => {
    const { graph, world, ask, post } = await begin()
    await using _ = graph
    world.answer = () => found
    await graph.rows(`alter table publishing.audit_entries add constraint none check (action <> 'post.published') not valid`)
    await expect(ask()).rejects.toThrow('none')
    expect(await stored(graph, post)).toMatchObject(open)
  })

  test('"not there" concludes only its own attempt, while the outcome is unknown', async () => {
    const { graph, attempt, post } = await begin()
    await using _ = graph
    const mine = await attempt()
    expect(await closeAsAbsent(graph.job, post, { ...mine, number: 2 })).toBe(null)
    expect(await stored(graph, post)).toMatchObject(open)
    expect(await closeAsAbsent(graph.job, post, { ...mine, finishedAt: null })).toMatchObject({
      failureCode: 'NOT_DELIVERED',
      version: post.version + 2,
    })
    expect(await graph.rows(`select actor, subject_id, details from publishing.audit_entries where action = 'post.not-delivered'`)).toEqual([
      { actor: 'delivery', subject_id: post.id, details: { attempt: 1 } },
    ])
    expect((await attempt()).finishedAt).toEqual(graph.clock.now())
    expect(await closeAsAbsent(graph.job, post, mine)).toBe(null)
    await graph.rows('delete from publishing.posts')
    expect(await closeAsAbsent(graph.job, post, mine)).toBe(null)
  })
})
