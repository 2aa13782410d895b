import { expect, test } from 'vitest'
import { supergraph } from '../../kit/supergraph.ts'
import { stored, texts, until } from './delivering.ts'
import { reschedulePost, updatePost } from './documents.ts'

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

test('P-06 the older job of a post that was moved and edited sends nothing; the newer one sends what stands there', async () => {
  await using graph = await supergraph({ sandbox: true })
  const { owner, post } = await graph.seed
    .owner()
    .brand()
    .connection()
    .post({ scheduledAt: graph.clock.in(3_000) })
  await graph.execute(updatePost, { input: { id: post.id, copy: 'Edited' } }, { as: owner })
  await graph.execute(reschedulePost, { input: { id: post.id, scheduledAt: graph.clock.soon(20_000) } }, { as: owner })
  await graph.clock.run(18_000)
  const done = async () => (await graph.rows(`select 1 from publishing_jobs.job where data->>'postId' = $1 and state = 'completed'`, [post.id])).length
  await expect.poll(done, { timeout: 5_000 }).toBe(1)
  expect([await texts(graph), (await stored(graph, post)).status]).toEqual([[], 'SCHEDULED'])
  await graph.clock.run(3_000)
  await until(graph, post, { status: 'PUBLISHED' })
  expect(await texts(graph)).toEqual(['Edited'])
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

test('P-08 a thread that is due goes out by itself, in its order', async () => {
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
