import { expect, test } from 'vitest'
import { newId } from '../../../../../platform/ids.ts'
import { letSleep, wakeUp } from '../../../../../subgraphs/publishing/delivery/wake-up.ts'
import type { PostRow } from '../../../../../subgraphs/publishing/stores/post.ts'
import { type Supergraph, supergraph } from '../../../../kit/supergraph.ts'
import { deletePost, reschedulePost, updatePost } from '../../documents.ts'
import { renewals, stored, texts, twoHours, until } from '../delivering.ts'

// The job runner with its shipped settings; only its clock is the test's.

test('P-06 a post is sent at its time by the job that was enqueued with it', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(10_000) })
  await graph.clock.run(9_900)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[], 'SCHEDULED'])
  // Polls come every half second, and the sweep leaves a post alone for two: what is sent by now was sent by its job.
  await graph.clock.run(1_000)
  await until(graph, post, { status: 'PUBLISHED' })
  expect(await texts(graph)).toEqual([post.copy])
})

test('P-06 a post that was moved and edited is sent at its new time with its new text', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(3_000) })
  await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited' } }, { as: owner })
  await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(20_000) } }, { as: owner })
  await graph.clock.run(18_000)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[], 'SCHEDULED'])
  await graph.clock.run(3_000)
  await until(graph, post, { status: 'PUBLISHED' })
  expect(await texts(graph)).toEqual(['Edited'])
})

test('a post has one wake-up however often it is moved, and none once it is a draft or deleted', async () => {
  await using graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner().brand()
  const scheduledAt = graph.clock.in(60_000)
  const { owner, post: moved } = await story.post({ scheduledAt })
  const { post: reverted } = await story.post({ scheduledAt })
  const { post: deleted } = await story.post({ scheduledAt })
  for (let minutes = 1; minutes <= 100; minutes += 1)
    await graph.execute(reschedulePost, { input: { id: moved.id, scheduledAt: graph.clock.soon(minutes * 60_000) } }, { as: owner })
  await graph.execute(updatePost, { input: { id: reverted.id, scheduledAt: null } }, { as: owner })
  await graph.execute(deletePost, { input: { id: deleted.id } }, { as: owner })
  expect(await graph.rows(`select data->>'postId' as id, start_after from publishing_jobs.job where state <= 'completed'`)).toEqual([
    { id: moved.id, start_after: graph.clock.in(6_000_000) },
  ])
})

test('wakes a post whose claim an edit removed; an unclaimed one already has its job', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, post } = await graph.seed
    .owner()
    .brand()
    .post({ scheduledAt: graph.clock.in(60_000) })
  const wokenBy = async (copy: string) => {
    await graph.rows('delete from publishing_jobs.job')
    ;(await graph.execute(updatePost, { input: { id: post.id, copy } }, { as: owner })).data()
    return (await graph.rows<{ id: string }>(`select data->>'postId' as id from publishing_jobs.job`)).map(({ id }) => id)
  }
  expect(await wokenBy('Edited')).toEqual([])
  const claim = `update publishing.posts set delivery_phase = 'CLAIMED', claim_id = $2, claim_until = $3 where id = $1`
  await graph.rows(claim, [post.id, newId(), graph.clock.in(10_000)])
  expect(await wokenBy('Edited meanwhile')).toEqual([post.id])
})

test('a wake-up whose cancellation is rolled back still comes', async () => {
  await using graph = await supergraph()
  const { post } = await graph.seed.owner().brand().post()
  const { jobs } = graph.job
  const { sequelize } = graph.database
  await sequelize.transaction(transaction => wakeUp(jobs, post, graph.clock.in(60_000), transaction))
  const change = sequelize.transaction(async transaction => {
    await letSleep(jobs, post, transaction)
    throw new Error('refused')
  })
  await expect(change).rejects.toThrow('refused')
  expect(await graph.rows(`select data->>'postId' as id from publishing_jobs.job`)).toEqual([{ id: post.id }])
})

test('a wake-up that is early by this process’s clock is repeated at its time', async () => {
  await using graph = await supergraph({ sandbox: true, behindMs: 1_000 })
  const { post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(10_000) })
  await graph.clock.run(10_900)
  const looked = () => graph.rows(`select 1 from publishing_jobs.job where data->>'postId' = $1 and state = 'completed'`, [post.id])
  await expect.poll(looked).not.toEqual([])
  expect(await texts(graph)).toEqual([])
  await runUntilPublished(graph, [post])
})

/** Lets time pass until all are published: less of it than a post is left to its wake-up before the sweep takes it. */
const runUntilPublished = async (graph: Supergraph, posts: readonly { id: string }[]) => {
  const from = graph.clock.now().getTime()
  const open = async () => (await graph.job.posts.byId.loadMany(posts.map(({ id }) => id))).filter(post => (post as PostRow).status !== 'PUBLISHED')
  while ((await open()).length && graph.clock.now().getTime() - from < 1_900) {
    await graph.clock.run(20)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  expect(await open()).toEqual([])
}

/** Holds back calls of the network for some connections, until they are let go. */
const holdBack = (graph: Supergraph, call: 'publish' | 'refresh', isHeld: (argument: unknown) => boolean) => {
  const x = graph.job.networks.get('X')!
  const original = x[call] as (argument: unknown) => Promise<unknown>
  const gate = Promise.withResolvers<void>()
  const held: unknown[] = []
  const holding = async (argument: unknown) => {
    if (isHeld(argument)) {
      held.push(argument)
      await gate.promise
    }
    return original(argument)
  }
  Object.assign(x, { [call]: holding })
  return { held, release: gate.resolve }
}

test('a slow connection delays only its own posts, four at a time', async () => {
  await using graph = await supergraph({ sandbox: true })
  const scheduledAt = graph.clock.in(60_000)
  const slow = await graph.seed.owner().brand().connection().posts(10, { scheduledAt })
  const fast = await graph.seed.owner().brand().connection().posts(2, { scheduledAt })
  const copies = new Set(slow.posts.map(({ copy }) => copy))
  const { held, release } = holdBack(graph, 'publish', argument => copies.has((argument as { copy: string }).copy))
  await graph.clock.run(50_000)
  for (const post of fast.posts) await until(graph, post, { status: 'PUBLISHED' })
  await expect.poll(() => held.length).toBe(4)
  await graph.clock.run(1_000)
  expect(held).toHaveLength(4)
  release()
  await runUntilPublished(graph, slow.posts)
})

test('slow renewals delay no posts with valid tokens, and their own posts are sent as soon as they end', async () => {
  await using graph = await supergraph({ sandbox: true })
  const story = graph.seed.owner()
  const scheduledAt = graph.clock.in(twoHours)
  const waiting = []
  for (let count = 0; count < 9; count += 1) waiting.push(...(await story.brand().connection().posts(4, { scheduledAt })).posts)
  await graph.clock.advance(scheduledAt.getTime() - graph.clock.now().getTime() - 5_000)
  const { post } = await graph.seed.owner().brand().connection().post({ scheduledAt })
  const { held, release } = holdBack(graph, 'refresh', () => true)
  await graph.clock.run(5_000)
  await runUntilPublished(graph, [post])
  await expect.poll(() => held.length).toBe(9)
  release()
  await Promise.all(graph.job.afterRenewals)
  await runUntilPublished(graph, waiting)
  expect(renewals(graph)).toBe(9)
})

test('P-06 a post whose job was lost is found by the sweep', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(1_000) })
  await graph.rows('delete from publishing_jobs.job')
  await graph.clock.run(5_001)
  await until(graph, post, { status: 'PUBLISHED' })
  expect(await texts(graph)).toEqual([post.copy])
})

test('P-08 a due thread is published without a request, in its order', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { thread } = await graph.seed
    .owner()
    .brand()
    .connection()
    .thread(3, { scheduledAt: graph.clock.in(10_000) })
  await graph.clock.run(8_000)
  for (const post of thread) {
    await graph.clock.run(1_000)
    await until(graph, post, { status: 'PUBLISHED' })
  }
  expect(await texts(graph)).toEqual(thread.map(({ copy }) => copy))
})
