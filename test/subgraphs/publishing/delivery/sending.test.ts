import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import { deliver } from '../../../../subgraphs/publishing/delivery/deliver.ts'
import { beginWithinMs } from '../../../../subgraphs/publishing/delivery/rules.ts'
import { GrantFailure } from '../../../../subgraphs/publishing/network/network.ts'
import { postStatusTopic } from '../../../../subgraphs/publishing/news/announce.ts'
import { type Supergraph, supergraph } from '../../../kit/supergraph.ts'
import { attempts, duePost, logged, renewals, stored, storedConnection, texts, wake } from './delivering.ts'

/** How often those who follow a brand's posts are told, while something is done. */
async function steps({ job }: Supergraph, brandId: string, work: () => Promise<unknown>): Promise<number> {
  const stream = job.events.listen([postStatusTopic(brandId)])
  let heard = 0
  const listening = (async () => {
    while (!(await stream.next()).done) heard += 1
  })()
  await work().finally(() => stream.return())
  await listening
  return heard
}

/** Has something done while a worker prepares the call of a post that it has claimed. */
const whilePreparing = ({ job: { connections } }: Supergraph, work: () => Promise<unknown>) => {
  const manyBy = connections.manyBy.bind(connections)
  Object.assign(connections, {
    manyBy: (column: 'brandId') => ({
      async load(id: string) {
        Object.assign(connections, { manyBy })
        await work()
        return manyBy(column).load(id)
      },
    }),
  })
}

/** Has the network's renewals end so. */
const renewalsEnd = ({ job }: Supergraph, refresh: () => Promise<never>) => Object.assign(job.networks.get('X')!, { refresh })

describe('P-06 a wake-up of a post', () => {
  test('before its time returns when to retry; a post that is blocked or not scheduled returns nothing', async () => {
    await using graph = await supergraph({ sandbox: true })
    const { thread, post: draft } = await graph.seed
      .owner()
      .brand()
      .connection()
      .thread(2, { scheduledAt: graph.clock.in(60_000) })
      .post()
    const look = ({ brandId, id }: typeof draft) => deliver(graph.job, { brandId, postId: id })
    const [first, second] = thread as [typeof draft, typeof draft]
    expect([await look(first), await look(second), await look(draft)]).toEqual([first.scheduledAt, second.scheduledAt, null])
    await graph.clock.advance(second.scheduledAt!.getTime() - graph.clock.now().getTime())
    expect([await look(second), await texts(graph)]).toEqual([null, []])
    expect([await look(first), await look(second), await look({ ...first, id: newId() })]).toEqual([null, null, null])
    const [one, other] = await graph.x.published()
    expect(other).toMatchObject({ text: second.copy, inReplyToId: one!.id })
  })

  test('of an inactive brand changes nothing', async () => {
    const { graph, post, key } = await duePost()
    await using _ = graph
    await graph.rows('update publishing.brands set archived_at = $1', [graph.clock.now()])
    expect([await deliver(graph.job, key), await stored(graph, post)]).toEqual([null, post])
  })

  test('publishes events about the claim, the call and the end', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    expect([await steps(graph, post.brandId, () => wake(graph, post)), await texts(graph), renewals(graph)]).toEqual([3, [post.copy], 0])
  })
})

describe('P-06 changes while the call is prepared', () => {
  test('an edit takes the post away from its worker, which sends nothing', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    whilePreparing(graph, () => graph.rows('update publishing.posts set claim_id = $1', [newId()]))
    expect(await steps(graph, post.brandId, () => wake(graph, post))).toBe(2)
    expect([await texts(graph), (await stored(graph, post)).deliveryPhase, await attempts(graph)]).toEqual([[], 'CLAIMED', []])
    whilePreparing(graph, () => graph.rows('delete from publishing.posts'))
    await graph.clock.advance(60_000)
    await wake(graph, post)
    expect(await texts(graph)).toEqual([])
  })

  test('a later time releases the post unsent', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    whilePreparing(graph, () => graph.rows('update publishing.posts set scheduled_at = $1', [graph.clock.in(1)]))
    await wake(graph, post)
    expect([await texts(graph), await attempts(graph)]).toEqual([[], []])
    expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', claimId: null, claimUntil: null })
  })
})

describe('P-07 a post that cannot reach the network fails before the call', () => {
  test('when the network is not set up any more', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    ;(graph.job.networks as Map<string, unknown>).delete('X')
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', failureCode: 'NO_CONNECTION' })
  })

  test('but not when its stored token cannot be read, nor after an internal error', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    const { connections } = graph.job
    const { open } = connections
    Object.assign(connections, {
      open: () => {
        throw new TypeError('what nobody thought of')
      },
    })
    await expect(wake(graph, post)).rejects.toThrow('what nobody thought of')
    expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'CLAIMED' })
    Object.assign(connections, { open })
    await graph.clock.advance(60_000)
    await graph.rows(`update publishing.connections set access_token = replace(access_token, 'v1.', 'v1.lost-')`)
    await wake(graph, post)
    expect([await stored(graph, post), graph.sent]).toMatchObject([
      { status: 'SCHEDULED', deliveryPhase: 'NONE', waitsUntil: graph.clock.in(5_000), failureCode: null },
      [],
    ])
  })

  test('and a token that was renewed a moment ago is used, however short it lives', async () => {
    const { graph, post } = await duePost()
    await using _ = graph
    await graph.rows('update publishing.connections set token_expires_at = $1, renewed_at = $2', [graph.clock.in(30_000), graph.clock.now()])
    await wake(graph, post)
    expect([await texts(graph), renewals(graph)]).toEqual([[post.copy], 0])
  })
})

describe('P-14 a call rejected for its token, which', () => {
  const refused = async () => {
    const world = await duePost()
    await world.graph.x.arm({ fault: 'expired-token' })
    return world
  }

  test('cannot be renewed, fails; the connection is deactivated', async () => {
    const { graph, post, connection } = await refused()
    await using _ = graph
    await graph.rows('update publishing.connections set refresh_token = null')
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status: 'FAILED', failureCode: 'CONNECTION_EXPIRED' })
    expect([await attempts(graph), await storedConnection(graph, connection)]).toMatchObject([
      [{ outcome: 'REFUSED', refusal: 'ACCESS_EXPIRED', detail: expect.stringMatching(/\w/) }],
      { active: false },
    ])
  })

  test('cannot be renewed now, releases the post; after an internal error another worker takes it up', async () => {
    for (const [error, phase, outcome] of [
      [new GrantFailure('Not now.', false), 'NONE', 'NOT_SENT'],
      [new TypeError('what nobody thought of'), 'SENDING', null],
    ] as const) {
      const { graph, post } = await refused()
      await using _ = graph
      renewalsEnd(graph, () => Promise.reject(error))
      await wake(graph, post).catch(met => expect(met).toBe(error))
      expect(await stored(graph, post)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: phase })
      expect([await texts(graph), await attempts(graph)]).toMatchObject([[], [{ outcome }]])
    }
  })

  test.each([
    ['while the token is renewed', true],
    ['before', false],
  ])('is not made again by a worker whose post another has taken %s', async (_when, during) => {
    const { graph, post } = await refused()
    await using _ = graph
    const x = graph.job.networks.get('X')!
    const { publish, refresh } = x
    const taken = () => graph.rows('update publishing.posts set claim_id = $1', [newId()])
    const thenTaken = (call: (argument: never) => Promise<unknown>) => async (argument: never) => {
      const answer = await call(argument)
      await taken()
      return answer
    }
    Object.assign(x, during ? { refresh: thenTaken(refresh) } : { publish: thenTaken(publish) })
    await wake(graph, post)
    expect([await texts(graph), renewals(graph)]).toEqual([[], during ? 1 : 0])
    expect([await stored(graph, post), await attempts(graph)]).toMatchObject([{ status: 'SCHEDULED', deliveryPhase: 'SENDING' }, [{ outcome: null }]])
  })
})

describe('P-10 an answer of the network', () => {
  test('that the first post with its text is a duplicate is trusted; for a second one the network is asked', async () => {
    const { graph, story, post } = await duePost()
    await using _ = graph
    const duplicate = async () => ({ outcome: 'refused', code: 'DUPLICATE_CONTENT', detail: 'You said that already.' })
    Object.assign(graph.job.networks.get('X')!, { publish: duplicate })
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ deliveryPhase: 'NONE', failureCode: 'DUPLICATE_CONTENT' })
    const { post: second } = await story.post({ copy: post.copy, scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, second)
    expect(await stored(graph, second)).toMatchObject({ deliveryPhase: 'UNKNOWN', failureCode: 'OUTCOME_UNKNOWN' })
    expect(await attempts(graph)).toMatchObject([
      { outcome: 'REFUSED', refusal: 'DUPLICATE_CONTENT' },
      { outcome: 'UNKNOWN', refusal: 'DUPLICATE_CONTENT', detail: expect.stringMatching(/\w/) },
    ])
  })

  test('that rejects a text for another reason is trusted, although an earlier call is open', async () => {
    const { graph, story, post } = await duePost()
    await using _ = graph
    await graph.x.arm({ fault: 'status', status: 403, times: 2 })
    await wake(graph, post)
    const { post: second } = await story.post({ copy: post.copy, scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    await wake(graph, second)
    expect(await stored(graph, second)).toMatchObject({ deliveryPhase: 'NONE', failureCode: 'NETWORK_REFUSED' })
  })

  test('with the id of another post leaves the outcome open, and is logged; a database error is treated differently', async () => {
    const { graph, story, post } = await duePost()
    await using _ = graph
    await wake(graph, post)
    const { platformPostId, permalink } = await stored(graph, post)
    Object.assign(graph.job.networks.get('X')!, { publish: async () => ({ outcome: 'delivered', platformPostId, permalink }) })
    const { post: second } = await story.post({ scheduledAt: graph.clock.in(60_000) })
    const { post: third } = await story.post({ scheduledAt: graph.clock.in(60_000) })
    await graph.clock.advance(60_000)
    const logLines = () => logged(graph)
    await wake(graph, second)
    expect(await stored(graph, second)).toMatchObject({ status: 'FAILED', deliveryPhase: 'UNKNOWN', failureMessage: expect.stringMatching(/\(\w.*\)/) })
    expect(logLines()).toMatchObject([{ postId: second.id }])
    await graph.rows(`alter table publishing.audit_entries add constraint none check (action <> 'post.published') not valid`)
    Object.assign(graph.job.networks.get('X')!, { publish: async () => ({ outcome: 'delivered', platformPostId: '1', permalink }) })
    await expect(wake(graph, third)).rejects.toThrow('none')
    expect([await stored(graph, third), logLines().length]).toMatchObject([{ deliveryPhase: 'SENDING' }, 1])
  })
})

describe('P-10 a worker that stood still between the record of its attempt and the call', () => {
  test.each([
    ['sends while its time lasts', beginWithinMs, 'PUBLISHED', 'DELIVERED'],
    ['puts the post back when its time is over, and says so', beginWithinMs + 1, 'SCHEDULED', 'NOT_SENT'],
  ])('%s', async (_what, milliseconds, status, outcome) => {
    const { graph, post } = await duePost()
    await using _ = graph
    const { begin: record } = graph.job.attempts
    Object.assign(graph.job.attempts, {
      begin: async (...parameters: Parameters<typeof record>) => {
        const attempt = await record(...parameters)
        await graph.clock.advance(milliseconds)
        return attempt
      },
    })
    await wake(graph, post)
    expect(await stored(graph, post)).toMatchObject({ status, deliveryPhase: 'NONE' })
    expect(await attempts(graph)).toMatchObject([{ outcome, detail: outcome === 'NOT_SENT' ? expect.stringMatching(/\w/) : null }])
    if (status === 'PUBLISHED') return
    Object.assign(graph.job.attempts, { begin: record })
    await graph.clock.advance(5_000)
    await wake(graph, post)
    expect([await texts(graph), await attempts(graph)]).toMatchObject([[post.copy], [{ outcome: 'DELIVERED' }]])
  })
})
