import { describe, expect, test } from 'vitest'
import { newId } from '../../../../platform/ids.ts'
import type { AttemptRow } from '../../../../subgraphs/publishing/stores/attempt.ts'
import { sendMs } from '../../../../subgraphs/publishing/stores/pace.ts'
import type { PostRow } from '../../../../subgraphs/publishing/stores/post.ts'
import { supergraph } from '../../../kit/supergraph.ts'
import type { PostSeed } from '../post/seed.ts'

/** A brand with a connection, whose rows are written as a test needs them. */
const begin = async () => {
  const graph = await supergraph()
  const story = graph.seed.owner().brand().connection()
  const { brand, connection } = await story
  const { attempts, posts } = graph.job
  const { sequelize } = graph.database
  const account = { connectionId: connection.id, externalAccountId: connection.externalAccountId }
  const write = async (row: Partial<PostRow>, seed: PostSeed = {}) => (await story.post({ ...seed, row })).post
  /** A post that was due so many ms ago. */
  const due = (ago: number, row: Partial<PostRow> = {}, seed: PostSeed = {}) => write({ status: 'SCHEDULED', scheduledAt: graph.clock.in(-ago), ...row }, seed)
  const attempt = (post: PostRow, values: Partial<AttemptRow> = {}, copy = post.copy) =>
    sequelize.transaction(async transaction => {
      const made = await attempts.begin({ ...account, post, copy, inReplyTo: null }, { now: graph.clock.now(), transaction })
      await attempts.update(made, values, transaction)
      return { ...made, ...values }
    })
  const unknown = (number = 1) =>
    write({ status: 'FAILED', deliveryPhase: 'UNKNOWN', attempts: number, failureCode: 'OUTCOME_UNKNOWN', failureMessage: '?', failedAt: graph.clock.now() })
  const now = graph.clock.now()
  const claim = (until: Date) => ({ claimId: newId(), claimUntil: until })
  return { graph, brand, connection, attempts, posts, sequelize, account, write, due, attempt, unknown, now, claim }
}

const ids = (keys: readonly { postId: string }[]) => keys.map(({ postId }) => postId)

describe('P-06 the list of due posts', () => {
  test('is ordered by time, blocked posts last, up to the requested number', async () => {
    const { graph, attempts, due, now } = await begin()
    await using _ = graph
    const young = await due(1_000)
    const first = await due(3_000)
    const second = await due(9_000, {}, { threadId: first.threadId })
    await due(-1)
    const found = await attempts.overdue(now, now, 20)
    expect(ids(found)).toEqual([first.id, young.id, second.id])
    expect(found[0]).toEqual({ brandId: first.brandId, postId: first.id, platform: 'X', held: false })
    expect(found[2]!.held).toBe(true)
    expect(ids(await attempts.overdue(now, now, 2))).toEqual([first.id, young.id])
    expect(ids(await attempts.overdue(graph.clock.in(-1_001), now, 20))).toEqual([first.id, second.id])
  })

  test('omits claimed, waiting, unapproved and marked posts, and inactive brands', async () => {
    const { graph, brand, attempts, due, now, claim } = await begin()
    await using _ = graph
    const waits = (until: Date) => ({ waitsUntil: until, waitingSince: now, waits: 1 })
    await due(9_500, { held: true })
    await due(9_200, { prepareAt: graph.clock.in(1) })
    await due(9_000, { approval: 'PENDING' })
    await due(8_000, { heldBack: true })
    await due(7_000, waits(graph.clock.in(1)))
    await due(6_000, { deliveryPhase: 'CLAIMED', ...claim(graph.clock.in(1)) })
    const open = [
      await due(5_000, { approval: 'APPROVED' }),
      await due(4_000, waits(now)),
      await due(3_000, { deliveryPhase: 'CLAIMED', ...claim(now) }),
      await due(2_000, waits(graph.clock.in(3_700_000))),
    ]
    expect(ids(await attempts.overdue(now, now, 20))).toEqual(open.map(({ id }) => id))
    for (const stop of ['archived_at', 'paused_at']) {
      await graph.rows(`update publishing.brands set ${stop} = $1 where id = $2`, [now, brand.id])
      expect(await attempts.overdue(now, now, 20)).toEqual([])
      await graph.rows(`update publishing.brands set ${stop} = null`)
    }
  })

  test('omits posts whose connection already sends the maximum', async () => {
    const { graph, account, attempts, due, now, claim } = await begin()
    await using _ = graph
    const post = await due(1_000)
    for (let count = 0; count < 4; count += 1) {
      expect(ids(await attempts.overdue(now, now, 20))).toContain(post.id)
      await due(500, { deliveryPhase: count % 2 ? 'SENDING' : 'CLAIMED', attempts: 1, ...account, ...claim(graph.clock.in(sendMs)) })
    }
    expect(await attempts.overdue(now, now, 20)).toEqual([])
    expect(ids(await attempts.overdue(now, now, 20, 5))).toEqual([post.id])
  })

  test('is marked when it is blocked, a limited number at once', async () => {
    const { graph, attempts, sequelize, due, now } = await begin()
    await using _ = graph
    const first = await due(3_000)
    const later = [await due(2_000, {}, { threadId: first.threadId }), await due(1_000, {}, { threadId: first.threadId })]
    await due(-1, {}, { threadId: first.threadId })
    const mark = (limit: number) => sequelize.transaction(transaction => attempts.markHeldBack(now, limit, transaction))
    const marked = async () => (await graph.rows<{ id: string }>('select id from publishing.posts where held_back order by position')).map(({ id }) => id)
    await mark(1)
    expect(await marked()).toHaveLength(1)
    await mark(10)
    expect(await marked()).toEqual(later.map(({ id }) => id))
  })

  test('locks a post for one worker only, which also reads whether its brand is archived', async () => {
    const { graph, brand, attempts, sequelize, due } = await begin()
    await using _ = graph
    const post = await due(0)
    const key = { brandId: post.brandId, postId: post.id }
    await sequelize.transaction(async transaction => {
      expect(await attempts.lockIfFree(key, transaction)).toEqual({ ...post, brandStopped: false })
      expect(await sequelize.transaction(other => attempts.lockIfFree(key, other))).toBe(null)
    })
    await graph.rows('update publishing.brands set archived_at = $1 where id = $2', [graph.clock.now(), brand.id])
    await sequelize.transaction(async transaction => {
      expect(await attempts.lockIfFree(key, transaction)).toMatchObject({ brandStopped: true })
      expect(await attempts.lockIfFree({ ...key, postId: newId() }, transaction)).toBe(null)
    })
  })
})

describe('P-10 the list of open outcomes', () => {
  test('contains interrupted calls: those whose claim has expired, the oldest first', async () => {
    const { graph, account, attempts, due, now, claim } = await begin()
    await using _ = graph
    const sending = (until: number) => due(0, { deliveryPhase: 'SENDING', attempts: 1, ...account, ...claim(graph.clock.in(until)) })
    const [over, long, back] = [await sending(0), await sending(-1_000), await sending(400_000)]
    await sending(1)
    await due(0, { deliveryPhase: 'CLAIMED', ...claim(now) })
    expect(ids(await attempts.interrupted(now, 20))).toEqual([long.id, over.id, back.id])
    expect(await attempts.interrupted(now, 1)).toEqual([{ brandId: long.brandId, postId: long.id }])
  })

  test('contains unknown outcomes that are due, the oldest first, by the last attempt', async () => {
    const { graph, attempts, attempt, unknown, now } = await begin()
    await using _ = graph
    const asked = async (at: number | null) => {
      const post = await unknown()
      await attempt({ ...post, attempts: 0 }, { outcome: 'UNKNOWN', finishedAt: now, reconcileAt: at === null ? null : graph.clock.in(at) })
      return post
    }
    const [turn, long, back] = [await asked(0), await asked(-1_000), await asked(400_000)]
    await asked(1)
    await asked(null)
    expect(ids(await attempts.unknown(now, 20))).toEqual([long.id, turn.id, back.id])
    expect(await attempts.unknown(now, 1)).toEqual([{ brandId: long.brandId, postId: long.id }])
  })

  test('contains attempts with the same text for the same account: open ones, and those of open posts', async () => {
    const { graph, connection, attempts, attempt, unknown, write, now } = await begin()
    await using _ = graph
    const of = async (values: Partial<AttemptRow>, copy = 'The same') => attempt({ ...(await unknown()), attempts: 0 }, { finishedAt: now, ...values }, copy)
    const mine = await of({ outcome: 'UNKNOWN', reconcileAt: now })
    const asked = await of({ outcome: 'UNKNOWN', reconcileAt: now, startedAt: graph.clock.in(-2) }, ' the  SAME')
    const refused = await of({ outcome: 'REFUSED', refusal: 'RATE_LIMITED', startedAt: graph.clock.in(-1_000) })
    const old = await of({ outcome: 'NOT_DELIVERED', startedAt: graph.clock.in(-1_001) })
    const underWay = await of({ outcome: null, finishedAt: null, startedAt: graph.clock.in(-1) })
    await of({ outcome: 'DELIVERED', platformPostId: '1' })
    await of({ outcome: 'NOT_SENT' })
    await of({ outcome: 'UNKNOWN', reconcileAt: now }, 'Another')
    await of({ outcome: 'UNKNOWN', reconcileAt: now, externalAccountId: `${connection.externalAccountId}0` })
    const left = await write({})
    await attempt(left, { outcome: 'UNKNOWN', finishedAt: now, reconcileAt: now, startedAt: graph.clock.in(1) }, 'The same')
    const doubtful = await attempts.doubtful(mine, graph.clock.in(-1_000))
    expect(doubtful.slice(0, 3).map(({ id }) => id)).toEqual([refused.id, asked.id, underWay.id])
    expect((await attempts.doubtful(mine, graph.clock.in(-1_001)))[0]).toMatchObject({ id: old.id, startedAt: old.startedAt, outcome: 'NOT_DELIVERED' })
    const rivals = await attempts.rivals(mine)
    expect(rivals.map(({ id }) => id).sort()).toEqual([asked.id, underWay.id].sort())
    expect(rivals.find(({ id }) => id === asked.id)).toEqual({ id: asked.id, outcome: 'UNKNOWN', refusal: null, startedAt: asked.startedAt })
  })

  test('contains ids that other posts of the account got since then', async () => {
    const { graph, account, attempts, attempt, write } = await begin()
    await using _ = graph
    const published = (platformPostId: string, ago: number, row: Partial<PostRow> = {}) =>
      write({ status: 'PUBLISHED', platformPostId, publishedAt: graph.clock.in(-ago), ...account, ...row })
    const mine = await published('1', 0)
    await published('2', 1_000)
    await published('3', 1_001)
    await published('4', 0, { externalAccountId: `${account.externalAccountId}0` })
    const made = await attempt(mine, { updatedAt: graph.clock.now() })
    expect(await attempts.takenIds(made, graph.clock.in(-1_000))).toEqual(new Set(['2']))
  })
})

describe('P-10 an attempt', () => {
  test('follows the last one; the last is the latest, also for its own writer', async () => {
    const { graph, account, attempts, sequelize, write, now } = await begin()
    await using _ = graph
    const post = await write({})
    expect(await attempts.lastAttempt(post)).toBe(null)
    const values = { ...account, post, copy: 'A text', inReplyTo: '5' }
    await sequelize.transaction(async transaction => {
      const one = await attempts.begin(values, { now, transaction })
      expect(await attempts.lastAttempt(post, transaction)).toEqual(one)
      expect(await attempts.lastAttempt(post)).toBe(null)
      await attempts.update(one, { outcome: 'NOT_DELIVERED', finishedAt: now }, transaction)
    })
    const two = await sequelize.transaction(transaction => attempts.begin({ ...values, post: { ...post, attempts: 1 } }, { now, transaction }))
    expect(two).toMatchObject({ ...account, postId: post.id, brandId: post.brandId, number: 2, platform: 'X', copy: 'A text', inReplyTo: '5', startedAt: now })
    expect(two).toMatchObject({ outcome: null, createdAt: now, updatedAt: now, createdBy: 'delivery' })
    expect(await attempts.lastAttempt(post)).toEqual(two)
  })

  test('that was certainly not sent is reused after the post has waited; one that may have been sent is not', async () => {
    const { graph, account, attempts, sequelize, attempt, write, now } = await begin()
    await using _ = graph
    const post = await write({})
    const waited = { ...post, attempts: 1, waits: 1 }
    const again = (row: PostRow) =>
      sequelize.transaction(transaction => attempts.begin({ ...account, post: row, copy: 'Edited', inReplyTo: null }, { now: graph.clock.now(), transaction }))
    expect(await again({ ...(await write({})), waits: 1 }), 'it waited before any attempt').toMatchObject({ number: 1, copy: 'Edited' })
    const one = await attempt(post, { outcome: 'NOT_SENT', finishedAt: now, detail: 'away', updatedAt: now })
    await graph.clock.advance(5_000)
    const later = graph.clock.now()
    const same = { id: one.id, number: 1, copy: 'Edited', startedAt: later, finishedAt: null, outcome: null, detail: null, refusal: null, updatedAt: later }
    expect(await again(waited)).toMatchObject(same)
    await expect(again(waited), 'it is open now, and a post has one open attempt at most').rejects.toThrow()
    await graph.rows(`update publishing.attempts set outcome = 'NOT_SENT', finished_at = $1 where id = $2`, [later, one.id])
    expect(await again({ ...post, attempts: 1 }), 'its post was rescheduled').toMatchObject({ number: 2 })
  })
})
