import { expect, test } from 'vitest'
import { inTransaction } from '../../../../../subgraphs/store/write.ts'
import { supergraph } from '../../../../kit/supergraph.ts'
import { deletePost, reschedulePost } from '../../documents.ts'
import { round, stored, texts, wake } from '../delivering.ts'

/** A thread of two whose time has come, the first of which failed: the second is held back, and delivery has met it. */
async function heldThread() {
  const graph = await supergraph({ sandbox: true })
  const { owner, thread } = await graph.seed
    .owner()
    .brand()
    .connection()
    .thread(2, { scheduledAt: graph.clock.in(60_000) })
  const [first, second] = thread as [(typeof thread)[0], (typeof thread)[0]]
  const failed = { status: 'FAILED' as const, failureCode: 'NETWORK_REFUSED', failureMessage: 'No.', failedAt: graph.clock.now() }
  await inTransaction(graph.job, ({ transaction }) => graph.job.posts.update(first, failed, transaction))
  await graph.clock.advance(120_000)
  await round(graph)
  return { graph, owner, first, second }
}

test('a post that its thread holds back is visited once, and then no more', async () => {
  const { graph, second } = await heldThread()
  await using _ = graph
  expect(await stored(graph, second)).toMatchObject({ status: 'SCHEDULED', deliveryPhase: 'NONE', heldBack: true })
  expect(await graph.job.attempts.overdue(graph.clock.now(), graph.clock.now(), 20)).toEqual([])
})

test('is found by the sweep once the earlier post is published, although its wake-up was lost', async () => {
  const { graph, owner, first, second } = await heldThread()
  await using _ = graph
  await graph.execute(reschedulePost, { input: { id: first.id, scheduledAt: graph.clock.soon(1_000) } }, { as: owner })
  await graph.clock.advance(1_000)
  await wake(graph, first)
  expect(await stored(graph, second)).toMatchObject({ heldBack: false })
  await graph.rows('delete from publishing_jobs.job')
  await round(graph)
  expect(await texts(graph)).toEqual([first.copy, second.copy])
})

test('is found once the earlier post is deleted as well', async () => {
  const { graph, owner, first, second } = await heldThread()
  await using _ = graph
  ;(await graph.execute(deletePost, { input: { id: first.id } }, { as: owner })).data()
  await round(graph)
  expect(await texts(graph)).toEqual([second.copy])
})
